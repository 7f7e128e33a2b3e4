package org.monarchinitiative.phenol.ontology.scoredist;

import java.util.HashMap;
import java.util.Map;

/** Stand-in for the tests. */
public final class ScoreDistribution {
  final Map<Integer, ObjectScoreDistribution> objects = new HashMap<>();

  public ObjectScoreDistribution getObjectScoreDistribution(int object) {
    return objects.get(object);
  }
}
