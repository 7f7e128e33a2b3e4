"""The command line: one subcommand a stage. Stages are imported when they run, so help is quick."""

import argparse
import fcntl
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rarefuse import __version__
from rarefuse.errors import InputError
from rarefuse.retrieval.notes import DEFAULT_INDEX, LEAST_SIMILARITY

MOST_RESAMPLES = 100_000

Arguments = argparse.Namespace


def _fetch(a: Arguments) -> None:
    from rarefuse.sources.fetch import fetch
    from rarefuse.sources.registry import find_source, load_registry

    source = find_source(load_registry(a.registry), a.source, a.registry)
    folders = [
        *a.mirror_dir,
        *filter(None, os.environ.get("RAREFUSE_MIRROR_DIRS", "").split(os.pathsep)),
    ]
    offline = a.offline or bool(os.environ.get("RAREFUSE_OFFLINE"))
    fetch(source, a.output, mirror_dirs=folders, offline=offline)


def _verify(a: Arguments, path: Path) -> None:
    """Check a fetched file again before it is read: it may have changed since."""
    if a.source_id:
        from rarefuse.sources.fetch import verify
        from rarefuse.sources.registry import find_source, load_registry

        verify(path, find_source(load_registry(a.registry), a.source_id, a.registry))


def _ontology(a: Arguments) -> None:
    from rarefuse.ontology.obo import ontology_stage

    _verify(a, a.obo)
    ontology_stage(obo=a.obo, terms=a.terms, aliases=a.aliases)


def _annotations(a: Arguments) -> None:
    from rarefuse.annotations.build import annotations_stage

    _verify(a, a.hpoa)
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


def _corpus(a: Arguments) -> None:
    from rarefuse.corpus.readers import corpus_stage

    _verify(a, a.source)
    corpus_stage(
        name=a.name,
        reader=a.reader,
        source=a.source,
        options=a.options,
        terms=a.terms,
        aliases=a.aliases,
        cases=a.cases,
        skipped=a.skipped,
        withheld=a.withheld,
    )


def _view(a: Arguments) -> None:
    from rarefuse.corpus.view import view_stage

    view_stage(cases=a.cases, terms=a.terms, aliases=a.aliases, view=a.output)


def _splits(a: Arguments) -> None:
    from rarefuse.corpus.splits import splits_stage

    splits_stage(cases=a.cases, options=a.options, splits=a.output)


def _audit(a: Arguments) -> None:
    from rarefuse.corpus.audit import audit_stage

    audit_stage(
        view=a.view,
        cases=a.cases,
        withheld=a.withheld,
        splits=a.splits,
        diseases=a.diseases,
        terms=a.terms,
        aliases=a.aliases,
        output=a.output,
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


def _recorded(a: Arguments) -> None:
    from rarefuse.llm.recorded import recorded_stage

    _verify(a, a.answers)
    recorded_stage(
        answers=a.answers,
        cases=a.cases,
        keys=a.keys,
        options=a.options,
        completions=a.completions,
        names=a.names,
        problems=a.problems,
    )


def _lexicon(a: Arguments) -> None:
    from rarefuse.naming.lexicon import lexicon_stage

    lexicon_stage(
        diseases=a.diseases,
        mondo=a.mondo,
        mappings=a.mappings,
        orphanet=a.orphanet,
        lexicon=a.lexicon,
        crosswalk=a.crosswalk,
    )


def _map_names(a: Arguments) -> None:
    from rarefuse.naming.stage import mapping_stage

    mapping_stage(
        names=a.names,
        lexicon=a.lexicon,
        crosswalk=a.crosswalk,
        cases=a.cases,
        level=a.level,
        rules=a.rules,
        mapping=a.mapping,
        ranking=a.ranking,
        gold_ranks=a.gold_ranks,
    )


def _audit_sample(a: Arguments) -> None:
    from rarefuse.naming.audit import sample_stage

    sample_stage(arms=a.arm, corpus=a.corpus, options=a.options, items=a.items, key=a.key)


def _precision_sample(a: Arguments) -> None:
    from rarefuse.naming.precision import sample_stage

    sample_stage(
        arms=a.arm, corpus=a.corpus, lexicon=a.lexicon, size=a.size, seed=a.seed, output=a.output
    )


def _precision(a: Arguments) -> None:
    from rarefuse.naming.precision import print_precision

    print_precision(a.verdicts)


def _rank(a: Arguments) -> None:
    from rarefuse.rankers.run import rank_stage

    rank_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        method=a.method,
        options=a.options,
        depth=a.depth,
        rankings=a.rankings,
        gold_ranks=a.gold_ranks,
        threads=a.threads,
    )


def _stock(a: Arguments) -> None:
    from rarefuse.rankers.stock.run import stock_stage

    _verify(a, a.hpoa)
    stock_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        hpoa=a.hpoa,
        crosswalk=a.crosswalk,
        method=a.method,
        options=a.options,
        depth=a.depth,
        state=a.state,
        rankings=a.rankings,
        gold_ranks=a.gold_ranks,
        failures=a.failures,
        threads=a.threads,
    )


def _train_reranker(a: Arguments) -> None:
    from rarefuse.rerank.stage import train_stage

    train_stage(
        knowledge=a.knowledge, corpus=a.corpus, arms=a.arm, options=a.options, output=a.output
    )


def _rerank(a: Arguments) -> None:
    from rarefuse.rerank.stage import rerank_stage

    rerank_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        target=a.target,
        model=a.model,
        n_places=a.places,
        output=a.output,
    )


def _deletions(a: Arguments) -> None:
    from rarefuse.provenance.matching import deletions_stage

    deletions_stage(cases=a.cases, knowledge=a.knowledge, output=a.output)


def _rank_deletions(a: Arguments) -> None:
    from rarefuse.provenance.deletion_ranks import rank_deletions_stage

    rank_deletions_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        deletions=a.deletions,
        method=a.method,
        options=a.options,
        gold_ranks=a.gold_ranks,
        threads=a.threads,
    )


def _prepare_model(a: Arguments) -> None:
    from rarefuse.llm.prepare import prepare_model

    _verify(a, a.gguf)
    prepare_model(a.gguf, a.output)


def _ask(a: Arguments) -> None:
    from rarefuse.llm.ask import ask_stage

    ask_stage(
        view=a.view,
        audit=a.audit,
        cases=a.cases,
        withheld=a.withheld,
        diseases=a.diseases,
        terms=a.terms,
        aliases=a.aliases,
        arm=a.arm,
        entry=a.options,
        model=a.model,
        output=a.output,
    )


def _parse_answers(a: Arguments) -> None:
    from rarefuse.llm.names import names_stage

    names_stage(completions=a.completions, output=a.output)


def _fusion_features(a: Arguments) -> None:
    from rarefuse.fusion.stage import features_stage

    features_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        component=a.component,
        protocol=a.protocol,
        arm=a.arm,
        depth=a.depth,
        output=a.output,
        threads=a.threads,
    )


def _full_places(a: Arguments) -> None:
    from rarefuse.fusion.full import full_places_stage

    full_places_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        arms=a.arm,
        method=a.method,
        options=a.options,
        output=a.output,
        threads=a.threads,
    )


def _fusion_fit(a: Arguments) -> None:
    from rarefuse.fusion.fit import fit_stage

    fit_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        component=a.component,
        protocol=a.protocol,
        options=a.options,
        tensors=a.tensors,
        description=a.description,
    )


def _fusion_score(a: Arguments) -> None:
    from rarefuse.fusion.stage import rules_stage, score_stage

    shared = {
        "knowledge": a.knowledge,
        "corpus": a.corpus,
        "component": a.component,
        "protocol": a.protocol,
        "arm": a.arm,
        "options": a.options,
        "output": a.output,
    }
    if a.tensors is None:
        rules_stage(**shared)
    else:
        score_stage(**shared, tensors=a.tensors, description=a.tensors.with_suffix(".json"))


def _fuse(a: Arguments) -> None:
    from rarefuse.fusion.fused import fuse_stage

    fuse_stage(
        knowledge=a.knowledge,
        corpus=a.corpus,
        component=a.component,
        protocol=a.protocol,
        arm=a.arm,
        method=a.method,
        options=a.options,
        tensors=a.tensors,
        description=None if a.tensors is None else a.tensors.with_suffix(".json"),
        output=a.output,
    )


def _table(a: Arguments) -> None:
    from rarefuse.evaluation.base import Evaluation
    from rarefuse.evaluation.stage import table_stage

    table_stage(
        name=a.name,
        evaluation=Evaluation(corpus=a.corpus, knowledge=a.knowledge, **a.options),
        output=a.output,
    )


def _report(a: Arguments) -> None:
    from rarefuse.report.stage import write_report

    write_report(a.name, _tables(a.table), a.skipped, a.problems, a.audit, a.provenance, a.output)


def _summary(a: Arguments) -> None:
    from rarefuse.report.stage import write_summary

    write_summary(a.name, _tables(a.table), a.report, level=a.level)


def _tables(paths: Sequence[Path]) -> dict[str, Path]:
    return {path.stem: path for path in paths}


def _audit_overlap(a: Arguments) -> int:
    from rarefuse.report.overlap_stage import overlap_stage

    return overlap_stage(
        hpoa=a.hpoa,
        cases=a.cases,
        hpo=a.hpo,
        disease_map=a.disease_map,
        reader=a.reader,
        options={
            name: value
            for name, value in (("publication", a.publication), ("columns", a.columns))
            if value is not None
        },
        output=a.output,
        fail_above=a.fail_above,
        write_hpoa=a.write_hpoa,
        publication_files=a.publication_file,
        resamples=a.resamples,
        level=a.level,
        seed=a.seed,
    )


def _explorer(a: Arguments) -> None:
    from rarefuse.explorer.stage import explorer_stage

    explorer_stage(
        knowledge=a.knowledge, corpus=a.corpus, name=a.name, options=a.options, output=a.output
    )


def _diagnose(a: Arguments) -> None:
    from rarefuse.diagnose.clinic import Request
    from rarefuse.diagnose.stage import diagnose_stage

    diagnose_stage(
        Request(
            configs=a.config or [Path("config.yaml")],
            case=a.case,
            text=a.text,
            index=a.index,
            least_similarity=a.least_similarity,
            observed=a.hpo,
            excluded=a.excluded_hpo,
            batch=a.batch,
            publications=a.exclude_publication,
            llm=a.llm,
            answers=a.answers,
            models=a.model,
            formats=list(dict.fromkeys(a.format)) or ["json" if a.batch else "table"],
            output=a.output,
            top=a.top,
            cache=a.cache,
            threads=a.threads,
        )
    )


def _pheval_export(a: Arguments) -> None:
    from rarefuse.pheval.export import export_stage

    written = export_stage(
        cases=a.cases, ranking=a.ranking, crosswalk=a.crosswalk, ties=a.ties, output=a.output
    )
    print(f"{written} results in {a.output}", file=sys.stderr)


def _pheval_names(a: Arguments) -> None:
    from rarefuse.pheval.export import names_stage

    cases, strangers = names_stage(results=a.results, cases=a.cases, output=a.output)
    print(f"{cases} cases in {a.output}, {strangers} results of no case", file=sys.stderr)


def _write_config(a: Arguments) -> None:
    import yaml

    from rarefuse.artifacts import write_text

    write_text(yaml.safe_dump(a.options, sort_keys=True, allow_unicode=True), a.output)


def _ids(text: str) -> list[str]:
    """Ids divided by commas or blanks."""
    return text.replace(",", " ").split()


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"not a share in 0..1: {text}")
    return value


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"not a whole number above 0: {text}")
    return int(text)


def _resamples(text: str) -> int:
    value = _positive(text)
    if value > MOST_RESAMPLES:
        raise argparse.ArgumentTypeError(f"more than {MOST_RESAMPLES} do not fit in memory: {text}")
    return value


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"not a whole number of 0 or more: {text}")
    return int(text)


def _columns(text: str) -> dict[str, str]:
    value = _json(text)
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value.values()):
        raise argparse.ArgumentTypeError(
            f'not a JSON object of column names, such as {{"disease": "final diagnosis"}}: {text}'
        )
    return value


def _retrieval_set(a: Arguments) -> None:
    from rarefuse.retrieval.stage import subset_stage

    subset_stage(source=a.source, folder=a.folder, options=a.options)


def _retrieval_encode(a: Arguments) -> None:
    from rarefuse.retrieval.stage import encode_stage

    encode_stage(folder=a.folder, options=a.options, known=a.known)


def _retrieval_reference(a: Arguments) -> None:
    from rarefuse.retrieval.stage import reference_stage

    reference_stage(folder=a.folder, seed=a.seed, output=a.output)


def _retrieval_train(a: Arguments) -> None:
    from rarefuse.retrieval.stage import train_stage

    train_stage(folder=a.folder, seed=a.seed, options=a.options, output=a.output)


def _retrieval_search(a: Arguments) -> None:
    from rarefuse.retrieval.stage import search_stage

    search_stage(folder=a.folder, seed=a.seed, tables=a.tables, output=a.output, mixing=a.mixing)


def _retrieval_index(a: Arguments) -> None:
    from rarefuse.retrieval.stage import index_stage

    index_stage(folder=a.folder, seed=a.seed, tables=a.tables, mixing=a.mixing, output=a.output)


def _retrieval_table(a: Arguments) -> None:
    from rarefuse.retrieval.table_stage import retrieval_table_stage

    retrieval_table_stage(
        name=a.name, folder=a.folder, inputs=a.input, options=a.options, output=a.output
    )


def _ground(a: Arguments) -> None:
    from rarefuse.retrieval.ground import read_grounder

    answer = read_grounder(a.index, a.encoder).ground(a.text, k=a.k, want=a.want)
    if a.json:
        print(json.dumps(answer.as_dict(), ensure_ascii=False))
        return
    print(f"{answer.mention} -> {answer.linked.term_id} {answer.linked.label}")
    for hit in answer.hits:
        print(f"{hit.rank:>3}  {hit.term_id}  {hit.label}")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error


# Each subcommand: function, help, arguments. An argument is a path unless its type is given.
_FROM_SOURCE: dict[str, dict[str, Any]] = {
    "--registry": {"default": Path("resources/sources.yaml"), "help": "source registry"},
    "--source-id": {"type": str, "help": "registry entry to verify the file against"},
}
_ONTOLOGY: dict[str, dict[str, Any]] = {
    "--terms": {"required": True, "help": "artifact terms"},
    "--aliases": {"required": True, "help": "artifact aliases"},
}
_OPTIONS: dict[str, Any] = {"type": _json, "default": {}, "help": "options as a JSON object"}
_RANKER: dict[str, dict[str, Any]] = {
    "--method": {"type": str, "required": True, "help": "ranking method"},
    "--options": _OPTIONS,
    "--threads": {"type": int, "default": 1, "help": "threads to use"},
}


_SEED: dict[str, Any] = {"type": int, "default": 0, "help": "seed of the training"}


def _needed(**names: str) -> dict[str, dict[str, Any]]:
    return {
        f"--{name.replace('_', '-')}": {"required": True, "help": text}
        for name, text in names.items()
    }


_FUSION: dict[str, dict[str, Any]] = {
    **_needed(knowledge="folder", corpus="folder"),
    "--component": {
        "type": str,
        "required": True,
        "help": "ranker, also with .topK (its first K places) or .full (its whole order)",
    },
    "--protocol": {"type": str, "required": True, "help": "ordinary or lopo"},
}

_COMMANDS: dict[str, tuple[Callable[[Arguments], int | None], str, dict[str, dict[str, Any]]]] = {
    "fetch": (
        _fetch,
        "fetch and verify a source of the registry",
        {
            "source": {"type": str, "help": "registry entry"},
            **_needed(output="file to write"),
            "--registry": _FROM_SOURCE["--registry"],
            "--mirror-dir": {
                "action": "append",
                "default": [],
                "help": "look here first, then in RAREFUSE_MIRROR_DIRS",
            },
            "--offline": {
                "action": "store_true",
                "help": "never download; also RAREFUSE_OFFLINE=1",
            },
        },
    ),
    "ontology": (
        _ontology,
        "read an OBO release",
        {**_needed(obo="OBO file"), **_ONTOLOGY, **_FROM_SOURCE},
    ),
    "annotations": (
        _annotations,
        "read an HPOA release",
        {
            **_needed(
                hpoa="phenotype.hpoa",
                annotations="artifact to write",
                diseases="artifact to write",
                relations="artifact to write",
                information_content="artifact to write",
                problems="artifact to write",
            ),
            **_ONTOLOGY,
            "--options": _OPTIONS,
            **_FROM_SOURCE,
        },
    ),
    "corpus": (
        _corpus,
        "read a case corpus",
        {
            "--name": {"type": str, "required": True, "help": "corpus"},
            "--reader": {"type": str, "required": True, "help": "what reads it"},
            **_needed(
                source="file or folder",
                cases="artifact to write",
                skipped="artifact to write",
                withheld="artifact to write",
            ),
            **_ONTOLOGY,
            "--options": _OPTIONS,
            **_FROM_SOURCE,
        },
    ),
    "view": (
        _view,
        "close the view",
        {**_needed(cases="artifact cases", output="artifact to write"), **_ONTOLOGY},
    ),
    "splits": (
        _splits,
        "split whole publications",
        {**_needed(cases="artifact cases", output="artifact to write"), "--options": _OPTIONS},
    ),
    "audit": (
        _audit,
        "look for answers in the closed view; fails if there are any",
        {
            **_needed(
                view="artifact view",
                cases="artifact cases",
                withheld="artifact withheld",
                splits="artifact splits",
                diseases="artifact diseases",
                output="artifact to write",
            ),
            **_ONTOLOGY,
        },
    ),
    "lopo": (
        _lopo,
        "list what LOPO removes for each publication",
        _needed(cases="artifact cases", relations="artifact relations", output="artifact to write"),
    ),
    "lopo-hpoa": (
        _lopo_hpoa,
        "write phenotype.hpoa without one publication's own relations",
        {
            "publication": {"type": str, "help": "PMID CURIE"},
            **_needed(
                hpoa="phenotype.hpoa",
                annotations="artifact annotations",
                relations="artifact relations",
                cases="artifact cases",
                output="file to write",
            ),
        },
    ),
    "recorded": (
        _recorded,
        "read answers that were recorded elsewhere",
        {
            **_needed(
                answers="table of answers: .parquet, .jsonl or .tsv",
                cases="artifact cases",
                completions="artifact to write",
                names="artifact to write",
                problems="artifact to write",
            ),
            "--keys": {"help": "table that leads keys to records"},
            "--options": _OPTIONS,
            **_FROM_SOURCE,
        },
    ),
    "lexicon": (
        _lexicon,
        "collect the names of diseases",
        _needed(
            diseases="artifact diseases",
            mondo="Mondo names (JSON)",
            mappings="Mondo mappings (SSSOM)",
            orphanet="Orphanet nomenclature (XML)",
            lexicon="artifact to write",
            crosswalk="artifact to write",
        ),
    ),
    "map-names": (
        _map_names,
        "map the disease names of an arm",
        {
            **_needed(
                names="artifact names",
                lexicon="artifact lexicon",
                crosswalk="artifact crosswalk",
                cases="artifact cases",
                mapping="artifact to write",
                ranking="artifact to write",
                gold_ranks="artifact to write",
            ),
            "--level": {"type": str, "default": "extended", "help": "exact or extended"},
            "--rules": {
                "type": _json,
                "help": "rules of 'extended' as a JSON list; all by default",
            },
        },
    ),
    "audit-sample": (
        _audit_sample,
        "draw names without a match for two blinded reviewers",
        {
            "--arm": {"type": str, "action": "append", "required": True, "help": "arm"},
            **_needed(
                corpus="folder",
                items="blinded TSV to write",
                key="TSV to write and keep from the reviewers",
            ),
            "--options": _OPTIONS,
        },
    ),
    "precision-sample": (
        _precision_sample,
        "draw mapped names to be checked by hand",
        {
            "--arm": {"type": str, "action": "append", "required": True, "help": "arm"},
            **_needed(corpus="folder", lexicon="artifact lexicon", output="TSV to write"),
            "--size": {"type": int, "default": 200, "help": "names to draw"},
            "--seed": {"type": int, "default": 4, "help": "seed of the draw"},
        },
    ),
    "precision": (
        _precision,
        "count the verdicts on mapped names that were checked by hand",
        {"verdicts": {"help": "TSV with column 'verdict'"}},
    ),
    "rank": (
        _rank,
        "rank a corpus under both protocols",
        {
            **_needed(
                knowledge="folder",
                corpus="folder",
                rankings="folder to write into",
                gold_ranks="folder to write into",
            ),
            **_RANKER,
            "--depth": {"type": int, "default": 100, "help": "places to keep"},
        },
    ),
    "stock": (
        _stock,
        "rank a corpus under both protocols with a stock program",
        {
            **_needed(
                knowledge="folder",
                corpus="folder",
                hpoa="phenotype.hpoa",
                state="folder for finished answers",
                rankings="folder to write into",
                gold_ranks="folder to write into",
                failures="artifact to write",
            ),
            "--crosswalk": {"help": "artifact crosswalk, for ids of other namespaces"},
            **_RANKER,
            "--depth": {"type": int, "default": 100, "help": "places to keep"},
            **_FROM_SOURCE,
        },
    ),
    "train-reranker": (
        _train_reranker,
        "train an evidence reranker",
        {
            **_needed(knowledge="folder", corpus="folder", output="folder to write into"),
            "--arm": {
                "type": str,
                "action": "append",
                "default": [],
                "help": "language model that trains; none for the ontology alone",
            },
            "--options": _OPTIONS,
        },
    ),
    "rerank": (
        _rerank,
        "rerank a corpus out of fold",
        {
            "target": {"type": str, "help": "language model, or 'ontology'"},
            **_needed(
                knowledge="folder",
                corpus="folder",
                model="folder of a trained reranker",
                output="folder to write into",
            ),
            "--places": {"type": int, "default": 20, "help": "places to keep"},
        },
    ),
    "deletions": (
        _deletions,
        "match independent annotations to those that LOPO removes",
        _needed(cases="artifact cases", knowledge="folder", output="artifact to write"),
    ),
    "rank-deletions": (
        _rank_deletions,
        "rank with source-exclusive annotations of the diagnosis deleted, or matched ones",
        {
            **_needed(
                knowledge="folder",
                corpus="folder",
                deletions="artifact deletions",
                gold_ranks="folder to write into",
            ),
            **_RANKER,
        },
    ),
    "prepare-model": (
        _prepare_model,
        "unpack a GGUF model into a folder that vLLM loads",
        {**_needed(gguf="GGUF file", output="folder to write"), **_FROM_SOURCE},
    ),
    "ask": (
        _ask,
        "ask a language model about a corpus",
        {
            "arm": {"type": str, "help": "arm"},
            **_needed(
                view="artifact view",
                audit="artifact audit",
                cases="artifact cases",
                withheld="artifact withheld",
                diseases="artifact diseases",
                output="artifact to write; shards are kept beside it",
            ),
            **_ONTOLOGY,
            "--model": {"help": "folder of a prepared model"},
            "--options": _OPTIONS,
        },
    ),
    "parse": (
        _parse_answers,
        "read the names in an arm's answers",
        _needed(completions="artifact completions", output="artifact to write"),
    ),
    "fusion-features": (
        _fusion_features,
        "describe an arm's and the ontology's lists by their 39 features",
        {
            **_FUSION,
            "--arm": {"type": str, "required": True, "help": "language model"},
            "--depth": {"type": int, "default": 100, "help": "places that are stored"},
            **_needed(output="artifact to write"),
            "--threads": {"type": int, "default": 1, "help": "threads to use"},
        },
    ),
    "full-places": (
        _full_places,
        "find where the diseases that language models name stand in a ranker's whole order",
        {
            **_needed(knowledge="folder", corpus="folder", output="folder to write into"),
            "--arm": {"type": str, "action": "append", "required": True, "help": "language model"},
            **_RANKER,
        },
    ),
    "fusion-fit": (
        _fusion_fit,
        "fit gates or their controls for every fold and seed",
        {
            **_FUSION,
            "--options": _OPTIONS,
            **_needed(tensors="safetensors to write", description="JSON to write"),
        },
    ),
    "fusion-score": (
        _fusion_score,
        "fuse an arm by fits, or without any by the rules, and look the diagnoses up",
        {
            **_FUSION,
            "--arm": {"type": str, "required": True, "help": "language model"},
            "--options": _OPTIONS,
            "--tensors": {"help": "safetensors of fits, its JSON beside it"},
            **_needed(output="artifact to write"),
        },
    ),
    "fuse": (
        _fuse,
        "write the fused lists of an arm by one method",
        {
            **_FUSION,
            "--arm": {"type": str, "required": True, "help": "language model"},
            "--method": {"type": str, "required": True, "help": "rule or learned method"},
            "--options": _OPTIONS,
            "--tensors": {"help": "safetensors of a learned method's fits, its JSON beside it"},
            **_needed(output="artifact to write"),
        },
    ),
    "table": (
        _table,
        "compute a result table",
        {
            "name": {"type": str, "help": "table"},
            **_needed(corpus="folder", knowledge="folder", output="artifact to write"),
            "--options": _OPTIONS,
        },
    ),
    "report": (
        _report,
        "write the report page",
        {
            "--name": {"type": str, "required": True, "help": "corpus"},
            "--table": {"action": "append", "default": [], "help": "table artifact"},
            **_needed(
                skipped="artifact skipped",
                problems="artifact annotation_problems",
                audit="artifact audit",
                output="page to write",
            ),
            "--provenance": {"type": _json, "default": {}, "help": "JSON object"},
        },
    ),
    "summary": (
        _summary,
        "print a run's summary",
        {
            "--name": {"type": str, "required": True, "help": "corpus"},
            "--table": {"action": "append", "default": [], "help": "table artifact"},
            **_needed(report="report page"),
            "--level": {"type": float, "default": 0.95, "help": "coverage of the intervals"},
        },
    ),
    "audit-overlap": (
        _audit_overlap,
        "audit cases against an annotation release: publication overlap and what LOPO removes",
        {
            **_needed(
                hpoa="phenotype.hpoa of any release, gzipped or not",
                cases="phenopackets (file, folder, zip), PhEval Parquet, RareBench JSON lines, or "
                "a table with columns case_id, publication, disease, observed, excluded",
            ),
            "--hpo": {"help": "hp.obo, to map alternative and replaced term ids"},
            "--disease-map": {"help": "table of OMIM and ORPHA ids, for ORPHA diagnoses"},
            "--reader": {"type": str, "help": "reader of the cases; by their content if not given"},
            "--publication": {
                "type": str,
                "help": "phenopackets: where the PMID stands: external-references or id",
            },
            "--columns": {
                "type": _columns,
                "help": 'tables: which column holds what, as JSON: {"disease": "final diagnosis"}',
            },
            "--output": {"default": Path("overlap-audit"), "help": "folder to write into"},
            "--fail-above": {
                "type": _share,
                "metavar": "SHARE",
                "help": "exit with 1 when the share of cases with overlap is above this (0..1), or "
                "cannot be told",
            },
            "--write-hpoa": {
                "metavar": "FOLDER",
                "help": "also write phenotype.hpoa without each publication's own annotations",
            },
            "--publication-file": {
                "type": str,
                "action": "append",
                "default": [],
                "metavar": "PMID",
                "help": "with --write-hpoa: only this publication's file; may be repeated",
            },
            "--resamples": {"type": _resamples, "default": 2000, "help": "of whole publications"},
            "--level": {"type": _share, "default": 0.95, "help": "coverage of the intervals"},
            "--seed": {"type": _seed, "default": 20260902, "help": "of the resamples"},
        },
    ),
    "explorer": (
        _explorer,
        "write the pages that show every case",
        {
            "--name": {"type": str, "required": True, "help": "corpus"},
            "--options": _OPTIONS,
            **_needed(
                knowledge="folder of annotations",
                corpus="folder of the corpus's artifacts",
                output="folder to write",
            ),
        },
    ),
    "retrieval-set": (
        _retrieval_set,
        "sample a subset of an ontology and make its queries",
        {**_needed(source="ontology", folder="set's folder"), "--options": _OPTIONS},
    ),
    "retrieval-encode": (
        _retrieval_encode,
        "encode every text of a set",
        {
            **_needed(folder="set's folder"),
            "--options": _OPTIONS,
            "--known": {"action": "append", "default": [], "help": "vectors to take over"},
        },
    ),
    "retrieval-reference": (
        _retrieval_reference,
        "train and search the reference's systems",
        {**_needed(folder="set's folder", output="artifact to write"), "--seed": _SEED},
    ),
    "retrieval-train": (
        _retrieval_train,
        "train the hyperbolic tables",
        {
            **_needed(folder="set's folder", output="file to write"),
            "--seed": _SEED,
            "--options": _OPTIONS,
        },
    ),
    "retrieval-search": (
        _retrieval_search,
        "search every test query",
        {
            **_needed(
                folder="set's folder",
                tables="trained tables",
                output="artifact to write",
                mixing="file to write",
            ),
            "--seed": _SEED,
        },
    ),
    "retrieval-index": (
        _retrieval_index,
        "write the index that 'ground' serves",
        {
            **_needed(
                folder="set's folder",
                tables="trained tables",
                mixing="chosen mixing",
                output="folder to write into",
            ),
            "--seed": _SEED,
        },
    ),
    "retrieval-table": (
        _retrieval_table,
        "compute a table of the retrieval part",
        {
            "name": {"type": str, "help": "table"},
            "--input": {"action": "append", "default": [], "help": "artifact that it reads"},
            **_needed(folder="set's folder", output="artifact to write"),
            "--options": _OPTIONS,
        },
    ),
    "ground": (
        _ground,
        "ground a text to ontology terms",
        {
            "text": {"type": str, "help": "a mention, or a question about one"},
            "--index": {
                "default": DEFAULT_INDEX,
                "help": f"folder of a set; {DEFAULT_INDEX} by default",
            },
            "--want": {
                "type": str,
                "default": "auto",
                "help": "term, parents, ancestors, siblings, or auto: what the text asks",
            },
            "--k": {"type": int, "default": 10, "help": "terms to print"},
            "--encoder": {"type": str, "default": "all-MiniLM-L6-v2", "help": "sentence encoder"},
            "--json": {"action": "store_true", "help": "print JSON"},
        },
    ),
    "diagnose": (
        _diagnose,
        "rank the diseases that explain one patient's findings, or a folder of patients. "
        "Research use only",
        {
            "case": {
                "nargs": "?",
                "help": "phenopacket of schema v1 or v2, JSON or YAML, or a free text (.txt)",
            },
            "--text": {"type": str, "help": "findings in words, in place of a file"},
            "--index": {
                "metavar": "FOLDER",
                "help": f"index that free text is grounded with; {DEFAULT_INDEX} by default",
            },
            "--least-similarity": {
                "type": _share,
                "default": LEAST_SIMILARITY,
                "metavar": "COSINE",
                "help": f"of words and term, at least; {LEAST_SIMILARITY} by default",
            },
            "--hpo": {
                "type": _ids,
                "default": [],
                "metavar": "HP:…,HP:…",
                "help": "observed terms in place of a phenopacket",
            },
            "--excluded-hpo": {
                "type": _ids,
                "default": [],
                "metavar": "HP:…,HP:…",
                "help": "terms that were looked for and not found, beside --hpo",
            },
            "--batch": {"metavar": "FOLDER", "help": "rank every phenopacket below a folder"},
            "--exclude-publication": {
                "type": str,
                "action": "append",
                "default": [],
                "metavar": "PMID",
                "help": "rank without the annotations that only this publication supports; may be "
                "repeated; 'own' for those that each phenopacket names",
            },
            "--llm": {
                "type": str,
                "metavar": "ARM",
                "help": "ask this language model of the config",
            },
            "--answers": {
                "metavar": "FILE",
                "help": "a language model's answer: text with numbered lines, or a JSON list; with "
                "--batch a folder of them",
            },
            "--model": {
                "action": "append",
                "default": [],
                "metavar": "CHECKPOINT",
                "help": "fusion gate or evidence reranker of the workflow; one of each at most",
            },
            "--format": {
                "type": str,
                "action": "append",
                "default": [],
                "choices": ["table", "json", "html", "pheval"],
                "help": "may be repeated; 'table', of a folder 'json', if not given",
            },
            "--output": {"help": "file, or folder for several files; the terminal if not given"},
            "--top": {"type": _positive, "default": 20, "help": "candidates to show"},
            "--config": {
                "action": "append",
                "default": [],
                "metavar": "FILE",
                "help": "configuration and overlays, as for snakemake; config.yaml if not given",
            },
            "--cache": {"metavar": "FOLDER", "help": "what is kept between runs; the user's cache"},
            "--threads": {
                "type": _positive,
                "default": os.cpu_count() or 1,
                "help": "threads to use; all if not given",
            },
        },
    ),
    "pheval-export": (
        _pheval_export,
        "write a list of a corpus as PhEval disease results, one file a case",
        {
            **_needed(
                cases="artifact cases",
                ranking="any list of the workflow: rankings, llm, reranked or fused",
                output="PhEval's results folder to write into",
            ),
            "--crosswalk": {"help": "artifact crosswalk, for Mondo's ids"},
            "--ties": {
                "type": str,
                "default": "native",
                "choices": ["native", "worst"],
                "help": "rank of equal candidates: our order, or the last place, as PhEval ranks",
            },
        },
    ),
    "pheval-names": (
        _pheval_names,
        "collect another tool's PhEval disease results into a table for a recorded arm",
        _needed(
            results="PhEval's results folder", cases="artifact cases", output="artifact to write"
        ),
    ),
    "write-config": (
        _write_config,
        "write a run's merged configuration",
        {"--options": _OPTIONS, **_needed(output="file to write")},
    ),
}


def parser() -> argparse.ArgumentParser:
    """Build the parser of all subcommands."""
    top = argparse.ArgumentParser(prog="rarefuse", description="Stages of the workflow.")
    top.add_argument("--version", action="version", version=f"rarefuse {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (function, text, arguments) in _COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(function=function)
        for argument, settings in arguments.items():
            typed = {} if settings.get("action") == "store_true" else {"type": Path}
            command.add_argument(argument, **{**typed, **settings})
    return top


@contextmanager
def _running(lock: str | None) -> Iterator[None]:
    """Hold a shared lock while a job of a workflow runs, so that its orphans can be noticed."""
    if not lock:
        yield
        return
    with open(lock, "a", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand.

    Returns
    -------
    int
        0 if all went well, 2 for an `InputError`, whose message goes to stderr; 1 when a check
        that was asked for did not pass.
    """
    parsed = parser().parse_args(arguments)
    try:
        with _running(os.environ.get("RAREFUSE_JOBS_LOCK")):
            return parsed.function(parsed) or 0
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
