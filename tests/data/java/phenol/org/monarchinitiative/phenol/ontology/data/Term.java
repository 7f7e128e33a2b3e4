package org.monarchinitiative.phenol.ontology.data;

/** Stand-in for the tests. */
public final class Term {
  private final TermId id;

  private Term(TermId id) {
    this.id = id;
  }

  public static Term of(TermId id, String name) {
    return new Term(id);
  }

  public TermId getId() {
    return id;
  }
}
