package org.monarchinitiative.phenol.ontology.data;

/** Stand-in for the tests. */
public enum RelationshipType {
  IS_A
}
