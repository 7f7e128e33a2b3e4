package org.monarchinitiative.phenol.ontology.data;

import java.util.Set;

/** Stand-in for the tests. */
public interface Ontology {
  Set<TermId> getNonObsoleteTermIds();

  Set<TermId> getAncestorTermIds(TermId term, boolean includeRoot);
}
