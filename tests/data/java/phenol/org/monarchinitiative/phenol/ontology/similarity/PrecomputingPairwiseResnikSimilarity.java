package org.monarchinitiative.phenol.ontology.similarity;

import java.util.Map;
import java.util.Set;
import org.monarchinitiative.phenol.ontology.data.Ontology;
import org.monarchinitiative.phenol.ontology.data.TermId;

/** Stand-in for the tests: information content of the best common ancestor, single precision. */
public final class PrecomputingPairwiseResnikSimilarity implements PairwiseSimilarity {
  private final Ontology ontology;
  private final Map<TermId, Double> termToIc;

  public PrecomputingPairwiseResnikSimilarity(
      Ontology ontology, Map<TermId, Double> termToIc, int numThreads) {
    this.ontology = ontology;
    this.termToIc = termToIc;
  }

  @Override
  public double computeScore(TermId query, TermId target) {
    Set<TermId> common = ontology.getAncestorTermIds(query, true);
    common.retainAll(ontology.getAncestorTermIds(target, true));
    return (float) common.stream().mapToDouble(termToIc::get).max().orElse(0.0);
  }
}
