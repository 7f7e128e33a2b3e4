package org.monarchinitiative.phenol.ontology.scoredist;

/** Stand-in for the tests. */
public final class ScoreSamplingOptions {
  int terms;
  int iterations = 100_000;

  public void setNumThreads(int threads) {}

  public void setMinNumTerms(int terms) {
    this.terms = terms;
  }

  public void setMaxNumTerms(int terms) {
    if (terms != this.terms) {
      throw new IllegalArgumentException("one size at a time");
    }
  }

  public void setNumIterations(int iterations) {
    this.iterations = iterations;
  }
}
