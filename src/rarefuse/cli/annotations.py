"""What the rankers know: ontology and annotation releases, and what LOPO removes from them."""

from rarefuse.cli.arguments import FROM_SOURCE, ONTOLOGY, OPTIONS, Arguments, Commands, needed
from rarefuse.cli.sources import verify_again


def _ontology(a: Arguments) -> None:
    from rarefuse.ontology.obo import ontology_stage

    verify_again(a, a.obo)
    ontology_stage(obo=a.obo, terms=a.terms, aliases=a.aliases)


def _annotations(a: Arguments) -> None:
    from rarefuse.annotations.build import annotations_stage

    verify_again(a, a.hpoa)
    annotations_stage(
        hpoa=a.hpoa,
        terms=a.terms,
        aliases=a.aliases,
        annotations=a.annotations,
        diseases=a.diseases,
        relations=a.relations,
        information_content_path=a.information_content,
        problems=a.problems,
        **a.options,
    )


def _lopo(a: Arguments) -> None:
    from rarefuse.annotations.lopo import lopo_stage

    lopo_stage(cases=a.cases, relations=a.relations, output=a.output)


def _lopo_hpoa(a: Arguments) -> None:
    from rarefuse.annotations.lopo import lopo_hpoa_stage

    lopo_hpoa_stage(
        hpoa=a.hpoa,
        annotations=a.annotations,
        relations=a.relations,
        cases=a.cases,
        publication=a.publication,
        output=a.output,
    )


RELEASES: Commands = {
    "ontology": (
        _ontology,
        "read an OBO release",
        {**needed(obo="OBO file"), **ONTOLOGY, **FROM_SOURCE},
    ),
    "annotations": (
        _annotations,
        "read an HPOA release",
        {
            **needed(
                hpoa="phenotype.hpoa",
                annotations="artifact to write",
                diseases="artifact to write",
                relations="artifact to write",
                information_content="artifact to write",
                problems="artifact to write",
            ),
            **ONTOLOGY,
            "--options": OPTIONS,
            **FROM_SOURCE,
        },
    ),
}


LOPO: Commands = {
    "lopo": (
        _lopo,
        "list what LOPO removes for each publication",
        needed(cases="artifact cases", relations="artifact relations", output="artifact to write"),
    ),
    "lopo-hpoa": (
        _lopo_hpoa,
        "write phenotype.hpoa without one publication's own relations",
        {
            "publication": {"type": str, "help": "PMID CURIE"},
            **needed(
                hpoa="phenotype.hpoa",
                annotations="artifact annotations",
                relations="artifact relations",
                cases="artifact cases",
                output="file to write",
            ),
        },
    ),
}
