package org.monarchinitiative.phenol.ontology.similarity;

import org.monarchinitiative.phenol.ontology.data.TermId;

/** Stand-in for the tests. */
public interface PairwiseSimilarity {
  double computeScore(TermId query, TermId target);
}
