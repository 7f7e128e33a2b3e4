import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Takes LIRICAL's command line and answers in its formats; scores by what phenotype.hpoa says.
 * As LIRICAL does, it sorts by post-test probability, stably.
 *
 * <p>The data folder's behaviour.txt has lines "log PATH" (append the case when it is finished) and
 * "TERM WHAT [PATH]": a case with that observed term makes the program sleep, exit, or write
 * garbage, half an answer or none, or wait until PATH exists.
 */
public final class LiricalStandIn {

  public static void main(String[] arguments) throws Exception {
    if (!arguments[0].equals("prioritize")) {
      throw new IllegalArgumentException("unknown command " + arguments[0]);
    }
    Map<String, String> options = new HashMap<>();
    for (int i = 1; i < arguments.length; i += 2) {
      options.put(arguments[i], arguments[i + 1]);
    }
    Path data = Path.of(options.get("--data"));
    List<String> observed = terms(options.get("--observed-phenotypes"));
    List<String> excluded = terms(options.getOrDefault("--negated-phenotypes", ""));
    String format = options.get("--output-format");
    Path output =
        Path.of(options.get("--output-directory"), options.get("--prefix") + "." + format);

    Path log = null;
    String behaviour = "proper";
    for (String line : Files.readAllLines(data.resolve("behaviour.txt"), StandardCharsets.UTF_8)) {
      String[] words = line.split(" ", 3);
      if (words[0].equals("log")) {
        log = Path.of(line.substring(4));
      } else if (observed.contains(words[0])) {
        behaviour = words[1];
        while (behaviour.equals("wait") && !Files.exists(Path.of(words[2]))) {
          Thread.sleep(20);
        }
      }
    }
    if (behaviour.equals("sleep")) {
      Thread.sleep(60_000);
    }
    if (behaviour.equals("exit")) {
      System.err.println("Fehler: ungültige Zeile\nabgebrochen");
      System.exit(3);
    }
    if (!behaviour.equals("none")) {
      String text = answer(data, observed, excluded, format);
      if (behaviour.equals("garbage")) {
        text = "<html>not found</html>\n";
      } else if (behaviour.equals("half")) {
        text = text.substring(0, text.length() / 2);
      } else if (behaviour.equals("fewer")) { // whole lines, but not all of them
        text = text.substring(0, text.lastIndexOf('\n', text.length() - 2) + 1);
      }
      Files.writeString(output, text, StandardCharsets.UTF_8);
    }
    if (log != null) {
      Files.writeString(
          log, options.get("--prefix") + "\n", StandardCharsets.UTF_8,
          StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
  }

  private static List<String> terms(String text) {
    return text.isEmpty() ? List.of() : Arrays.asList(text.split(","));
  }

  private static String answer(
      Path data, List<String> observed, List<String> excluded, String format) throws IOException {
    Map<String, Set<String>> profiles = new LinkedHashMap<>();
    for (String line : Files.readAllLines(data.resolve("phenotype.hpoa"), StandardCharsets.UTF_8)) {
      String[] fields = line.split("\t", -1);
      if (fields[0].startsWith("OMIM:") && fields[10].equals("P") && !fields[2].equals("NOT")) {
        profiles.computeIfAbsent(fields[0], key -> new HashSet<>()).add(fields[3]);
      }
    }
    Map<String, Double> ratios = new HashMap<>();
    for (Map.Entry<String, Set<String>> entry : profiles.entrySet()) {
      double ratio = 1.0;
      for (String term : observed) {
        ratio *= entry.getValue().contains(term) ? 2000.0 : 0.01;
      }
      for (String term : excluded) {
        ratio *= entry.getValue().contains(term) ? 0.01 : 1.0;
      }
      ratios.put(entry.getKey(), ratio);
    }
    List<String> order = new ArrayList<>(profiles.keySet());
    double pretest = 1.0 / order.size();
    Map<String, Double> posttest = new HashMap<>();
    for (String disease : order) {
      double odds = pretest / (1.0 - pretest) * ratios.get(disease);
      posttest.put(disease, odds / (1.0 + odds));
    }
    order.sort(Comparator.comparing(disease -> -posttest.get(disease)));
    StringBuilder text = new StringBuilder();
    if (format.equals("json")) {
      for (String disease : order) {
        text.append(text.length() == 0 ? "" : ",\n")
            .append("{\"diseaseId\": \"" + disease + "\", \"pretestProbability\": " + pretest)
            .append(", \"posttestProbability\": " + posttest.get(disease))
            .append(", \"compositeLR\": " + ratios.get(disease) + "}");
      }
      return "{\"analysisData\": {}, \"analysisResults\": [\n" + text + "\n]}\n";
    }
    text.append("! LIRICAL TSV Output (stand-in)\n! Sample: subject\n");
    text.append("rank\tdiseaseName\tdiseaseCurie\tpretestprob\tposttestprob\tcompositeLR\n");
    for (int i = 0; i < order.size(); i++) {
      double ratio = ratios.get(order.get(i));
      text.append(
          String.format(
              "%,d\tName\t%s\t1/%d\t%.2f%%\t%,.3f\n", // the machine's language, as LIRICAL has it
              i + 1, order.get(i), order.size(), 100 * posttest.get(order.get(i)), ratio));
    }
    return text.toString();
  }

  private LiricalStandIn() {}
}
