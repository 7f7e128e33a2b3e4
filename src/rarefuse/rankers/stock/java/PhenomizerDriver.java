import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.monarchinitiative.phenol.ontology.data.ImmutableOntology;
import org.monarchinitiative.phenol.ontology.data.Ontology;
import org.monarchinitiative.phenol.ontology.data.Relationship;
import org.monarchinitiative.phenol.ontology.data.RelationshipType;
import org.monarchinitiative.phenol.ontology.data.Term;
import org.monarchinitiative.phenol.ontology.data.TermId;
import org.monarchinitiative.phenol.ontology.scoredist.ObjectScoreDistribution;
import org.monarchinitiative.phenol.ontology.scoredist.ScoreDistribution;
import org.monarchinitiative.phenol.ontology.scoredist.ScoreSamplingOptions;
import org.monarchinitiative.phenol.ontology.scoredist.SimilarityScoreSampling;
import org.monarchinitiative.phenol.ontology.similarity.PrecomputingPairwiseResnikSimilarity;
import org.monarchinitiative.phenol.ontology.similarity.ResnikSimilarity;

/**
 * Similarity and empirical p-value of cases against disease profiles, computed by phenol 1.3.3.
 *
 * <p>Usage: PhenomizerDriver INPUT OUTPUT SAMPLES THREADS
 *
 * <p>INPUT holds terms.tsv (term, information content), edges.tsv (child, parent) and units/*.tsv.
 * A unit has lines "P disease term,term,..." and "Q case term,term,...", tab-separated: every case
 * is compared with every profile, whose null distribution is sampled for the size of the queries
 * (at most 10). OUTPUT gets one file of the unit's name with the header and rows case_id,
 * disease_id, similarity, p_value in the unit's order, moved into place when it is whole.
 */
public final class PhenomizerDriver {

  private static final int LARGEST_NULL = 10;

  public static void main(String[] arguments) throws IOException {
    Path input = Path.of(arguments[0]);
    Path output = Path.of(arguments[1]);
    int samples = Integer.parseInt(arguments[2]);
    int threads = Integer.parseInt(arguments[3]);

    Map<TermId, Double> ic = new LinkedHashMap<>();
    List<Term> terms = new ArrayList<>();
    for (String[] row : table(input.resolve("terms.tsv"))) {
      TermId id = TermId.of(row[0]);
      terms.add(Term.of(id, row[0]));
      ic.put(id, Double.parseDouble(row[1]));
    }
    List<Relationship> edges = new ArrayList<>();
    for (String[] row : table(input.resolve("edges.tsv"))) {
      edges.add(
          new Relationship(
              TermId.of(row[0]), TermId.of(row[1]), edges.size() + 1, RelationshipType.IS_A));
    }
    Ontology ontology =
        ImmutableOntology.builder()
            .terms(terms)
            .relationships(edges)
            .build();
    ResnikSimilarity similarity =
        new ResnikSimilarity(
            new PrecomputingPairwiseResnikSimilarity(ontology, ic, threads), false);

    List<Path> units;
    try (Stream<Path> files = Files.list(input.resolve("units"))) {
      units = files.sorted().collect(Collectors.toList());
    }
    for (Path unit : units) {
      Path target = output.resolve(unit.getFileName());
      Path partial = output.resolve("." + unit.getFileName() + ".tmp");
      try (PrintWriter writer =
          new PrintWriter(Files.newBufferedWriter(partial, StandardCharsets.UTF_8))) {
        answer(unit, ontology, similarity, samples, threads, writer);
        if (writer.checkError()) {
          throw new IOException("cannot write " + partial);
        }
      }
      Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private static void answer(
      Path unit,
      Ontology ontology,
      ResnikSimilarity similarity,
      int samples,
      int threads,
      PrintWriter writer)
      throws IOException {
    List<String> diseases = new ArrayList<>();
    Map<Integer, List<TermId>> profiles = new HashMap<>();
    Map<String, List<TermId>> cases = new LinkedHashMap<>();
    for (String[] row : table(unit)) {
      List<TermId> terms =
          Arrays.stream(row[2].split(",")).map(TermId::of).collect(Collectors.toList());
      if (row[0].equals("P")) {
        profiles.put(diseases.size(), terms);
        diseases.add(row[1]);
      } else {
        cases.put(row[1], terms);
      }
    }
    Map<Integer, ScoreDistribution> nulls = new HashMap<>();
    for (List<TermId> query : cases.values()) {
      int size = Math.min(query.size(), LARGEST_NULL);
      if (!nulls.containsKey(size)) {
        ScoreSamplingOptions options = new ScoreSamplingOptions();
        options.setNumThreads(threads);
        options.setMinNumTerms(size);
        options.setMaxNumTerms(size);
        options.setNumIterations(samples);
        nulls.putAll(
            new SimilarityScoreSampling(ontology, similarity, options).performSampling(profiles));
      }
    }
    writer.print("case_id\tdisease_id\tsimilarity\tp_value\n");
    for (Map.Entry<String, List<TermId>> query : cases.entrySet()) {
      ScoreDistribution distribution =
          nulls.get(Math.min(query.getValue().size(), LARGEST_NULL));
      for (int i = 0; i < diseases.size(); i++) {
        double score = similarity.computeScore(query.getValue(), profiles.get(i));
        ObjectScoreDistribution known = distribution.getObjectScoreDistribution(i);
        writer.print(query.getKey() + "\t" + diseases.get(i) + "\t" + score + "\t");
        writer.print(known.estimatePValue(score) + "\n");
      }
    }
  }

  private static List<String[]> table(Path path) throws IOException {
    List<String[]> rows = new ArrayList<>();
    try (BufferedReader reader = Files.newBufferedReader(path, StandardCharsets.UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        rows.add(line.split("\t", -1));
      }
    }
    return Collections.unmodifiableList(rows);
  }

  private PhenomizerDriver() {}
}
