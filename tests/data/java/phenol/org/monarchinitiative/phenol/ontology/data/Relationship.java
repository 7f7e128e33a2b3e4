package org.monarchinitiative.phenol.ontology.data;

/** Stand-in for the tests. */
public final class Relationship {
  private final TermId source;
  private final TermId target;

  public Relationship(TermId source, TermId target, int id, RelationshipType type) {
    this.source = source;
    this.target = target;
  }

  public TermId getSource() {
    return source;
  }

  public TermId getTarget() {
    return target;
  }
}
