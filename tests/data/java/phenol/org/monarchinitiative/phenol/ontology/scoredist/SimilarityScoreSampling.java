package org.monarchinitiative.phenol.ontology.scoredist;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.monarchinitiative.phenol.ontology.data.Ontology;
import org.monarchinitiative.phenol.ontology.data.TermId;
import org.monarchinitiative.phenol.ontology.similarity.Similarity;

/** Stand-in for the tests: random queries of one size, drawn without replacement, seeded. */
public final class SimilarityScoreSampling {
  private final Ontology ontology;
  private final Similarity similarity;
  private final ScoreSamplingOptions options;

  public SimilarityScoreSampling(
      Ontology ontology, Similarity similarity, ScoreSamplingOptions options) {
    this.ontology = ontology;
    this.similarity = similarity;
    this.options = options;
  }

  public Map<Integer, ScoreDistribution> performSampling(
      Map<Integer, ? extends Collection<TermId>> labels) {
    ScoreDistribution made = new ScoreDistribution();
    for (Map.Entry<Integer, ? extends Collection<TermId>> entry : labels.entrySet()) {
      Random random = new Random(options.terms);
      List<TermId> all = new ArrayList<>(ontology.getNonObsoleteTermIds());
      List<Double> scores = new ArrayList<>();
      for (int i = 0; i < options.iterations; i++) {
        Collections.shuffle(all, random);
        scores.add(similarity.computeScore(all.subList(0, options.terms), entry.getValue()));
      }
      made.objects.put(entry.getKey(), new ObjectScoreDistribution(scores));
    }
    Map<Integer, ScoreDistribution> result = new HashMap<>();
    result.put(options.terms, made);
    return result;
  }
}
