package org.monarchinitiative.phenol.ontology.scoredist;

import java.util.List;

/** Stand-in for the tests: the plain share of random scores that are at least as high. */
public final class ObjectScoreDistribution {
  private final List<Double> scores;

  ObjectScoreDistribution(List<Double> scores) {
    this.scores = scores;
  }

  public double estimatePValue(double score) {
    return scores.stream().filter(s -> s >= score - 1e-9).count() / (double) scores.size();
  }
}
