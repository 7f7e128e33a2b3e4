package org.monarchinitiative.phenol.ontology.similarity;

import java.util.Collection;
import org.monarchinitiative.phenol.ontology.data.TermId;

/** Stand-in for the tests: mean best match, query to target. */
public final class ResnikSimilarity implements Similarity {
  private final PairwiseSimilarity pairs;

  public ResnikSimilarity(PairwiseSimilarity pairs, boolean symmetric) {
    if (symmetric) {
      throw new IllegalArgumentException("only one direction");
    }
    this.pairs = pairs;
  }

  @Override
  public double computeScore(Collection<TermId> query, Collection<TermId> target) {
    double sum = 0.0;
    for (TermId q : query) {
      sum += target.stream().mapToDouble(t -> pairs.computeScore(q, t)).max().orElse(0.0);
    }
    return sum / query.size();
  }
}
