package org.monarchinitiative.phenol.ontology.data;

/** Stand-in for the tests: a CURIE. */
public final class TermId {
  private final String value;

  private TermId(String value) {
    this.value = value;
  }

  public static TermId of(String value) {
    return new TermId(value);
  }

  public String getValue() {
    return value;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TermId && ((TermId) other).value.equals(value);
  }

  @Override
  public int hashCode() {
    return 31 + value.hashCode();
  }
}
