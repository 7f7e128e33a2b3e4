package org.monarchinitiative.phenol.ontology.similarity;

import java.util.Collection;
import org.monarchinitiative.phenol.ontology.data.TermId;

/** Stand-in for the tests. */
public interface Similarity {
  double computeScore(Collection<TermId> query, Collection<TermId> target);
}
