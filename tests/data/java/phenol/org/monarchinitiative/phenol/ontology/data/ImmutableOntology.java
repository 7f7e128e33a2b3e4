package org.monarchinitiative.phenol.ontology.data;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/** Stand-in for the tests: a graph of parents. */
public final class ImmutableOntology implements Ontology {
  private final Set<TermId> terms = new LinkedHashSet<>();
  private final Map<TermId, Set<TermId>> parents = new HashMap<>();

  public static Builder builder() {
    return new Builder();
  }

  @Override
  public Set<TermId> getNonObsoleteTermIds() {
    return terms;
  }

  @Override
  public Set<TermId> getAncestorTermIds(TermId term, boolean includeRoot) {
    Set<TermId> found = new HashSet<>();
    found.add(term);
    for (TermId parent : parents.getOrDefault(term, Set.of())) {
      found.addAll(getAncestorTermIds(parent, includeRoot));
    }
    return found;
  }

  /** Builder. */
  public static final class Builder {
    private final ImmutableOntology made = new ImmutableOntology();

    public Builder terms(Collection<Term> terms) {
      terms.forEach(term -> made.terms.add(term.getId()));
      return this;
    }

    public Builder relationships(Collection<Relationship> relationships) {
      for (Relationship r : relationships) {
        made.parents.computeIfAbsent(r.getSource(), key -> new HashSet<>()).add(r.getTarget());
      }
      return this;
    }

    public ImmutableOntology build() {
      return made;
    }
  }
}
