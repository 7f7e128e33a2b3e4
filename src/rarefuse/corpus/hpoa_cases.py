"""The embedded corpus: published patients that HPOA itself records one by one.

HPOA keeps each publication's own counts. A (disease, PMID) group in which every phenotype
frequency is 1/1 or 0/1 is one published patient: 1/1 terms were observed, 0/1 terms excluded
(FUSION_SPEC section 1). Every case's source stands in the knowledge base, so this is the hardest
demonstration of publication-source overlap there can be.
"""

from collections.abc import Iterator
from pathlib import Path

from rarefuse.annotations.hpoa import read_hpoa
from rarefuse.annotations.pmid import pmids_of
from rarefuse.annotations.relations import phenotype_rows
from rarefuse.corpus.build import Corpus, RawCase, build
from rarefuse.corpus.terms import Skip, TermResolver

NOT_ONE_PATIENT = "group has a frequency other than 1/1 and 0/1"
FEW_OBSERVED = "fewer observed terms than the corpus asks for"


def read_hpoa_cases(
    name: str, path: Path, resolver: TermResolver, *, min_observed: int = 3
) -> Corpus:
    """Read single-patient groups of an HPOA release as cases.

    Parameters
    ----------
    name : str
        Corpus, part of the hashed case id.
    path : Path
        phenotype.hpoa.
    resolver : TermResolver
        The ontology.
    min_observed : int
        Observed terms that a case needs at least.
    """
    return build(name, path, _records(path, min_observed), resolver)


def _records(path: Path, min_observed: int) -> Iterator[RawCase | Skip]:
    groups: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    rows = phenotype_rows(read_hpoa(path))
    columns = ("database_id", "disease_name", "hpo_id", "reference", "frequency")
    for disease, label, term, reference, frequency in rows.select(columns).iter_rows():
        for pmid in dict.fromkeys(pmids_of(reference)):
            groups.setdefault((disease, pmid), []).append((label, term, frequency))
    for (disease, pmid), members in groups.items():
        record = f"{disease} {pmid}"
        other = sorted({f for _, _, f in members if f not in ("1/1", "0/1")})
        if other:
            yield Skip(record, "case", NOT_ONE_PATIENT, ", ".join(map(repr, other[:3])))
            continue
        observed: list[object] = [term for _, term, f in members if f == "1/1"]
        if len(set(observed)) < min_observed:
            yield Skip(record, "case", FEW_OBSERVED, str(len(set(observed))))
            continue
        label = members[0][0]
        yield RawCase(
            record,
            disease,
            observed,
            [term for _, term, f in members if f == "0/1"],
            publication_id=pmid,
            gold_label=label,
            withheld={
                ("disease_id", disease),
                ("disease_name", label),
                ("pmid", pmid),
                ("path", record),
            },
        )
