"""What the Snakefile asks: a checked configuration and the slice of it that each rule needs.

Light on purpose (no numpy, no polars): every job parses the Snakefile again.
"""

import fcntl
import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rarefuse import __version__
from rarefuse.codedigest import code_digest
from rarefuse.config import check_config, load_schema
from rarefuse.errors import InputError
from rarefuse.evaluation.catalogue import TABLES
from rarefuse.fusion import plan as fusion_plan
from rarefuse.fusion.catalogue import HoldOut, hold_outs
from rarefuse.fusion.plan import FusionPlan
from rarefuse.llm.catalogue import BACKENDS, RECORDED, WORDS, check_arm, check_recorded
from rarefuse.rankers.catalogue import METHODS, STOCK_METHODS, check_options, resolve_options
from rarefuse.rankers.stock.presence import check_present
from rarefuse.retrieval.configured import RetrievalRun
from rarefuse.slices import as_json, entry_path
from rarefuse.sources.registry import Source, find_source, load_registry

NAMING_TABLES = ("llm_arms", "naming_rules", "mapping_audit")
PROTOCOLS = ("ordinary", "lopo")
EXPLORER_PLACES = 10
_SKEW = 60
"""Seconds by which the clocks of a disk and of this machine may differ."""
STOCK_FOLDERS = ("data", "jars", "results", "lopo_results")
"""Options of stock programs that name a folder whose files count."""
DELETION_CONDITIONS = ("source_deletion", "matched_deletion")


@dataclass(frozen=True)
class Run:
    """A configured run.

    Parameters
    ----------
    config : dict
        Checked, with defaults.
    registry : dict
        Source registry.
    """

    config: dict[str, Any]
    registry: dict[str, Source]

    @property
    def corpus(self) -> str:
        """Corpus that the default target is about."""
        return str(self.config["corpus"])

    @property
    def results(self) -> str:
        """Folder for results."""
        return str(self.config["results"]).rstrip("/") or "/"

    @property
    def registry_path(self) -> str:
        """Path of the source registry."""
        return str(self.config["sources"]["registry"])

    @property
    def hpo(self) -> Source:
        """Ontology release."""
        return self.source(self.config["knowledge"]["hpo"])

    @property
    def hpoa(self) -> Source:
        """Annotation release."""
        return self.source(self.config["knowledge"]["hpoa"])

    @property
    def knowledge(self) -> str:
        """Folder of what the rankers know: one for each pair of releases."""
        return f"{self.results}/knowledge/{self.hpo.id}_{self.hpoa.id}"

    def source(self, name: str) -> Source:
        """Entry of the source registry."""
        return find_source(self.registry, name, self.registry_path)

    def source_of_file(self, file: str) -> Source:
        """Entry that is kept as `file`."""
        return next(s for s in self.registry.values() if s.file == file)

    def resource(self, name: str) -> str:
        """Path of a fetched source."""
        return f"{self.config['sources']['folder']}/{self.source(name).file}"

    @property
    def retrieval(self) -> RetrievalRun:
        """The retrieval part."""
        return RetrievalRun(self.config, self.resource)

    def corpus_path(self, corpus: str) -> str:
        """File or folder that a corpus is read from."""
        return entry_path(
            self.config["corpora"][corpus],
            self.resource,
            f"corpora.{corpus}",
            "a corpus",
            "a file or folder of cases",
        )

    def corpus_fingerprint(self, corpus: str) -> str:
        """Digest of names, sizes and times of the files below a folder of one's own.

        Snakemake looks at a folder's own time, which an edit of a file in it does not change.
        A single file or a verified source needs none.
        """
        folder = Path(self.corpus_path(corpus))
        if not folder.is_dir():
            return ""
        return _fingerprint(folder)

    def corpus_options(self, corpus: str) -> str:
        """The reader's own options."""
        entry = self.config["corpora"][corpus]
        return as_json({k: v for k, v in entry.items() if k not in ("reader", "source", "path")})

    def split_options(self) -> dict[str, Any]:
        """Options of the splits."""
        splits = self.config["splits"]
        return {
            "seed": self.config["seed"],
            "fractions": splits["fractions"],
            "publications": splits["publications"],
            "n_cases": splits["cases"],
            "tolerance": splits["tolerance"],
        }

    def ranker_method(self, ranker: str) -> str:
        """Method of a ranker id."""
        return resolve_options(ranker, self.config["rankers"])[0]

    def ranker_options(self, ranker: str) -> str:
        """Options of a ranker id."""
        return as_json(resolve_options(ranker, self.config["rankers"])[1])

    def ranker_code(self, ranker: str, stage: str = "rarefuse.rankers.run") -> str:
        """Digest of the code behind a ranker and of the stage that runs it."""
        return code_digest(stage, METHODS[self.ranker_method(ranker)][0])

    @property
    def stock_rankers(self) -> list[str]:
        """Rankers that are outside programs, which have a rule of their own."""
        return [
            r for r, entry in self.config["rankers"].items() if entry["method"] in STOCK_METHODS
        ]

    @property
    def stock_pattern(self) -> str:
        """Regular expression of `stock_rankers`; it matches nothing where there are none."""
        return "|".join(self.stock_rankers) or "(?!)"

    @property
    def native_pattern(self) -> str:
        """Regular expression of every other ranker, variants included."""
        return rf"(?!(?:{self.stock_pattern})/)[A-Za-z0-9_-]+(\.(seed\d+|uncapped))?"

    def stock_fingerprint(self, ranker: str) -> str:
        """Digest of names, sizes and times of the files of a stock program."""
        entry = self.config["rankers"][ranker]
        folders = [entry[key] for key in STOCK_FOLDERS if key in entry]
        return "-".join(_fingerprint(Path(folder)) for folder in folders)

    def stock_crosswalk(self, ranker: str) -> list[str]:
        """Exact matches of ids, for a ranker whose answers have ids of other namespaces."""
        foreign = self.ranker_method(ranker) == "pheval"
        return [f"{self.knowledge}/crosswalk.parquet"] * foreign

    def check_stock(self) -> None:
        """Raise `InputError` unless what the stock programs in use need is there."""
        pairs = self.config["stock_comparison"]["pairs"]
        used = {*self.config["evaluation"]["rankers"], *(r for pair in pairs for r in pair)}
        for ranker in self.stock_rankers:
            if ranker in self.config["matched_deletion"]["rankers"]:
                raise InputError(
                    "a stock program cannot rank with other deletions than LOPO's",
                    where="config, matched_deletion.rankers",
                    found=ranker,
                    expected="rankers of this package",
                    todo="take it out of the list",
                )
            if ranker in used:
                check_present(ranker, *resolve_options(ranker, self.config["rankers"]))

    @property
    def arms(self) -> list[str]:
        """Language models in the report."""
        return list(self.config["evaluation"]["llms"])

    @property
    def asked_arms(self) -> list[str]:
        """Language models that a back end asks."""
        return [arm for arm, entry in self.config["llms"].items() if entry["backend"] in BACKENDS]

    @property
    def recorded_arms(self) -> list[str]:
        """Language models whose answers were recorded elsewhere."""
        return [arm for arm, entry in self.config["llms"].items() if entry["backend"] == RECORDED]

    def recorded_path(self, arm: str) -> str:
        """Table of a recorded arm's answers."""
        return self._place(f"llms.{arm}", self.config["llms"][arm])

    def recorded_keys(self, arm: str) -> list[str]:
        """Table that leads a recorded arm's keys to records, if it has one."""
        keys = self.config["llms"][arm].get("keys")
        return [self._place(f"llms.{arm}.keys", keys)] if keys else []

    def recorded_options(self, arm: str) -> str:
        """Slice of the configuration that reading a recorded arm depends on."""
        entry = self.config["llms"][arm]
        return as_json({k: entry[k] for k in ("columns", "case_pattern", "keys") if k in entry})

    def naming_source(self, kind: str) -> str:
        """Path of a source of disease names: mondo, mappings or orphanet."""
        return self.resource(self.config["naming"][kind])

    def _place(self, where: str, entry: Mapping[str, Any]) -> str:
        """File that an entry names by 'source' or 'path'."""
        if ("source" in entry) == ("path" in entry):
            raise InputError(
                "the config names no place, or two",
                where=f"config, {where}",
                found=", ".join(sorted(entry)),
                expected="either 'source' (an entry of the source registry) or 'path'",
                todo="add one of them, or take one away",
            )
        return entry_path(
            entry,
            self.resource,
            where,
            "a table of an arm",
            "a .parquet, .jsonl or .tsv file",
            os.path.isfile,
        )

    def arm_model(self, arm: str) -> list[str]:
        """Folder of an arm's prepared model, if it is made from a source of the registry."""
        entry = self.config["llms"][arm]
        return [f"{self.results}/models/{entry['source']}"] if "source" in entry else []

    def arm_options(self, arm: str) -> str:
        """Slice of the configuration that an arm's answers depend on.

        Not its family, its note and the GPUs it gets.
        """
        entry = self.config["llms"][arm]
        options = {k: v for k, v in entry.items() if k not in WORDS and k != "gpus"}
        if "source" in entry:
            options["sha256"] = self.source(entry["source"]).sha256
        return as_json(options)

    def arm_gpus(self, arm: str) -> int:
        """GPUs that an arm gets."""
        entry = self.config["llms"][arm]
        shared = entry.get("tensor_parallel_size", 1) if entry["backend"] == "vllm" else 0
        return int(entry.get("gpus", shared))

    def arm_threads(self, arm: str) -> int:
        """Threads that an arm can use; a server does the work of those behind one."""
        return 8 if self.config["llms"][arm]["backend"] == "vllm" else 1

    def arm_memory(self, arm: str) -> int:
        """Memory (MB) that asking an arm needs at first; a server holds its models itself."""
        return 16_000 if self.config["llms"][arm]["backend"] == "vllm" else 2_000

    def arm_attempts(self, corpus: str, arm: str) -> str:
        """How many runs left cases of an arm without an answer; see `rarefuse.llm.ask`."""
        path = Path(self.results, corpus, "llm", arm, "attempts")
        return path.read_text(encoding="utf-8").strip() if path.exists() else "0"

    def arm_code(self, arm: str) -> str:
        """Digest of the code that asks an arm."""
        return code_digest("rarefuse.llm.ask", BACKENDS[self.config["llms"][arm]["backend"]][0])

    @property
    def fusion(self) -> FusionPlan:
        """What fusion this run has."""
        return FusionPlan(self.config, self.results)

    @property
    def reranked(self) -> list[str]:
        """What is reranked: the ontology alone, and every language model in the report."""
        return ["ontology", *self.arms]

    @property
    def reranker_arms(self) -> list[str]:
        """Language models that a reranker may learn from."""
        test_only = self.config["reranker"]["test_only"]
        return [arm for arm in self.arms if arm not in test_only]

    @property
    def reranker_hold_outs(self) -> dict[str, HoldOut]:
        """Language model → what its reranker learns from: never an answer of its family.

        Where no other family is left to learn from, the model's own trains too, and tables say so.
        """
        if not self.reranker_arms:
            raise InputError(
                "there is no language model that a reranker may learn from",
                where="config, reranker.test_only",
                found=", ".join(self.arms) or "no language model in evaluation.llms",
                expected="at least one that may train",
                todo="name fewer as test-only, or ask for the target 'ontology' alone",
            )
        families = {arm: self.config["llms"][arm]["family"] for arm in self.arms}
        return hold_outs(families, self.arms, self.reranker_arms, own_family=False)

    def reranker_of(self, target: str) -> str:
        """Name of the reranker for a target.

        All targets without a relative among the models that train share one, so that a language
        model that is added for testing alone is reranked by what is there already.
        """
        return target if target == "ontology" else self.reranker_hold_outs[target].name

    def reranker_trains_on(self, name: str) -> list[str]:
        """Language models that a reranker learns from; none for the ontology alone."""
        if name == "ontology":
            return []
        held = next(h for h in self.reranker_hold_outs.values() if h.name == name)
        return [arm for arm in self.reranker_arms if arm in held.arms]

    @property
    def reranker_gate(self) -> str:
        """Folder of the fusion gate's gold ranks, which the reranker is compared with."""
        return f"fused_ranks/{self.config['fusion']['ranker']}/lopo/gate"

    def reranker_options(self) -> str:
        """Slice of the configuration that training a reranker depends on."""
        settings = self.config["reranker"]
        return as_json({k: v for k, v in settings.items() if k not in ("test_only", "places")})

    def reranker_inputs(self, corpus: str, arms: Sequence[str]) -> list[str]:
        """Lists that a reranker joins."""
        folder = f"{self.results}/{corpus}"
        return [
            *(f"{folder}/rankings/{r}/lopo.parquet" for r in self.config["reranker"]["rankers"]),
            *(f"{folder}/llm/{arm}/ranking.parquet" for arm in arms if arm != "ontology"),
        ]

    @property
    def tables(self) -> list[str]:
        """Tables of the report."""
        llm = ["llm"] * bool(self.arms)
        return [*self.config["evaluation"]["tables"], *llm, *self.fusion.tables]

    def table_rankers(self, table: str) -> list[str]:
        """Rankers that a table is about."""
        if table in (
            "recall",
            "ties",
            "split_sensitivity",
            "unchanged",
            "single_case",
            "retained_profile",
            "dose",
        ):
            return list(self.config["evaluation"]["rankers"])
        if table in ("null_models", "matched_deletion"):
            return list(self.config[table]["rankers"])
        if table == "monte_carlo":
            settings = self.config["monte_carlo"]
            return [f"{settings['ranker']}.seed{seed}" for seed in settings["seeds"]]
        if table == "query_cap":
            ranker = self.config["query_cap"]["ranker"]
            return [ranker, f"{ranker}.uncapped"]
        if table == "stock_comparison":
            pairs = self.config["stock_comparison"]["pairs"]
            return list(dict.fromkeys(ranker for pair in pairs for ranker in pair))
        return []

    def table_inputs(self, corpus: str, table: str) -> list[str]:
        """Artifacts that a table reads besides cases, splits and annotations."""
        folder = f"{self.results}/{corpus}"
        if table in fusion_plan.TABLES:
            return self.fusion.table_inputs(corpus, table)
        if table == "llm":
            return self.arm_artifacts(corpus)
        if table in NAMING_TABLES:
            lexicon = [f"{self.knowledge}/lexicon.parquet"] * (table == "naming_rules")
            reviews = list(self.config["mapping_audit"]["reviews"])
            return [
                *lexicon,
                *reviews * (table == "mapping_audit"),
                *self.arm_artifacts(corpus, ("completions", "names", "mapping", "ranking")),
            ]
        if table == "reranker":
            return [
                *(f"{folder}/reranked/{name}/gold_ranks.parquet" for name in self.reranked),
                *(f"{folder}/llm/{arm}/gold_ranks.parquet" for arm in self.arms),
                *(f"{folder}/{self.reranker_gate}/{arm}.parquet" for arm in self.arms),
                *(
                    f"{folder}/gold_ranks/{ranker}/lopo.parquet"
                    for ranker in self.config["reranker"]["rankers"]
                ),
            ]
        kinds = ["gold_ranks"]
        if table in ("ties", "unchanged", "stock_comparison"):
            kinds.append("rankings")
        protocols = list(PROTOCOLS)
        extra: list[str] = []
        if table == "unchanged":
            extra = [f"{folder}/lopo.parquet"]
        if table == "matched_deletion":
            protocols += DELETION_CONDITIONS
        if table in ("matched_deletion", "split_sensitivity"):
            extra = [f"{folder}/deletions.parquet"]
        if table == "cross_corpus":
            settings = self.config["cross_corpus"]
            extra = [f"{self.results}/{name}/cases.parquet" for name in settings["corpora"]]
            extra.append(self.resource(settings["disease_map"]))
        if table == "stock_comparison":
            rankers = self.table_rankers(table)
            if not rankers:
                raise InputError(
                    "there is no stock program to compare with",
                    where="config, stock_comparison.pairs",
                    found="no pair",
                    expected="pairs such as [lirical, lirical-stock]",
                    todo="configure a stock program as docs/rankers.md says, and name the pair",
                )
            extra = [
                f"{folder}/rankings/{ranker}/failures.parquet"
                for ranker in rankers
                if ranker in self.stock_rankers
            ]
        return extra + [
            f"{folder}/{kind}/{ranker}/{protocol}.parquet"
            for kind in kinds
            for ranker in self.table_rankers(table)
            for protocol in protocols
        ]

    def arm_artifacts(
        self, corpus: str, artifacts: Sequence[str] = ("completions", "names")
    ) -> list[str]:
        """Answers and names, or other artifacts, of every language model in the report."""
        return [
            f"{self.results}/{corpus}/llm/{arm}/{artifact}.parquet"
            for arm in self.arms
            for artifact in artifacts
        ]

    def kept(self, corpus: str) -> list[str]:
        """Tables of the report, and the answers, rankings and gold ranks behind them."""
        rankers = dict.fromkeys(r for table in self.tables for r in self.table_rankers(table))
        tables = [f"{self.results}/{corpus}/tables/{table}.parquet" for table in self.tables]
        return [*tables, *self.arm_artifacts(corpus)] + [
            f"{self.results}/{corpus}/{kind}/{ranker}/{protocol}.parquet"
            for kind in ("rankings", "gold_ranks")
            for ranker in rankers
            for protocol in PROTOCOLS
        ]

    @property
    def _explored(self) -> dict[str, Any]:
        """What the pages of cases show."""
        return {
            "rankers": list(self.config["evaluation"]["rankers"]),
            "arms": self.arms,
            "fused": bool(self.fusion.tables),
            "reranked": self.reranked if "reranker" in self.tables else [],
            "component": self.config["fusion"]["ranker"],
            "protocol": self.config["fusion"]["protocol"],
            "places": EXPLORER_PLACES,
        }

    def explorer_options(self) -> str:
        """Slice of the configuration that the pages of cases depend on."""
        return as_json(self._explored)

    def explorer_inputs(self, corpus: str) -> list[str]:
        """Lists that the pages of cases show."""
        folder = f"{self.results}/{corpus}"
        shown = self._explored
        names = [
            *(
                f"{kind}/{ranker}/{protocol}"
                for kind in ("rankings", "gold_ranks")
                for ranker in shown["rankers"]
                for protocol in PROTOCOLS
            ),
            *(f"llm/{arm}/{name}" for arm in shown["arms"] for name in ("ranking", "gold_ranks")),
            *(f"fused/gate/{arm}" for arm in shown["arms"] if shown["fused"]),
            *(
                f"reranked/{target}/{name}"
                for target in shown["reranked"]
                for name in ("ranking", "gold_ranks")
            ),
        ]
        return [f"{folder}/{name}.parquet" for name in names]

    def table_options(self, table: str) -> str:
        """Slice of the configuration that a table depends on."""
        evaluation = self.config["evaluation"]
        options = {
            "rankers": self.table_rankers(table),
            "seed": self.config["seed"],
            **{name: evaluation[name] for name in ("recall_at", "resamples", "level")},
        }
        if table == "split_sensitivity":
            options["options"] = self.split_options()
        if table == "stock_comparison":
            options["options"] = {"pairs": self.config["stock_comparison"]["pairs"]}
        if table == "llm":
            notes = {arm: self.config["llms"][arm].get("note") for arm in self.arms}
            options["options"] = {"llms": notes}
        if table in NAMING_TABLES:
            options["options"] = {"llms": self.arms}
        if table == "mapping_audit":
            options["options"]["audit"] = self.config["mapping_audit"]
        if table in fusion_plan.TABLES:
            options["options"] = self.fusion.table_options(table)
        if table == "reranker":
            options["rankers"] = list(self.config["reranker"]["rankers"])
            held = self.reranker_hold_outs if self.arms else {}
            options["options"] = {
                "llms": self.arms,
                "macro": self.reranker_arms,
                "gate": self.reranker_gate,
                "in_family": [arm for arm, h in held.items() if not h.complete],
            }
        if table == "cross_corpus":
            settings = self.config["cross_corpus"]
            options["options"] = {
                **settings,
                "disease_map": self.resource(settings["disease_map"]),
            }
        return as_json(options)

    def table_code(self, table: str) -> str:
        """Digest of the code behind a table."""
        return code_digest("rarefuse.evaluation.stage", TABLES[table][0])

    def provenance(self, corpus: str) -> str:
        """What a reader needs to make the same results again."""
        entry = self.config["corpora"][corpus]
        used = [self.hpo, self.hpoa]
        if "source" in entry:
            used.append(self.source(entry["source"]))
        sources = [
            {name: getattr(s, name) for name in ("id", "title", "release", "licence", "sha256")}
            for s in {s.id: s for s in used}.values()
        ]
        rankers = {
            f"ranker {ranker}": as_json(self.config["rankers"][ranker])
            for ranker in sorted(self.config["rankers"])
        }
        arms = {f"language model {arm}": as_json(self.config["llms"][arm]) for arm in self.arms}
        return as_json(
            {
                "sources": sources,
                "settings": {
                    "rows with frequency 0/n": "kept"
                    if self.config["knowledge"]["keep_zero_frequency"]
                    else "dropped",
                    "places kept": self.config["evaluation"]["depth"],
                    **rankers,
                    **arms,
                },
                "version": __version__,
                "seed": self.config["seed"],
                "resamples": self.config["evaluation"]["resamples"],
                "level": self.config["evaluation"]["level"],
            }
        )

    def environment(self, base: Path) -> dict[str, str]:
        """Environment of the jobs.

        Jobs run ``python -m rarefuse`` of the interpreter that runs Snakemake, unless a conda
        environment puts its own first; the package always comes from the checkout at `base`.
        Where sources may be found does not change what they are, so it travels here and is no
        rule's parameter.
        """
        inherited = os.environ.get("PYTHONPATH")
        return {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
            "PYTHONPATH": os.pathsep.join([str(base / "src"), *([inherited] if inherited else [])]),
            "RAREFUSE_MIRROR_DIRS": os.pathsep.join(self.config["sources"]["mirror_dirs"]),
            "RAREFUSE_OFFLINE": "1" if self.config["sources"]["offline"] else "",
            "RAREFUSE_JOBS_LOCK": os.path.abspath(self.jobs_lock),
        }

    @property
    def jobs_lock(self) -> str:
        """File that every job holds a shared lock on while it runs."""
        return f"{self.results}/.jobs.lock"

    def hold_lock(self) -> IO[str]:
        """Let one run at a time write into the results folder.

        Snakemake's own lock is a file that outlives a killed run; this one is the system's and
        goes with the process. Jobs that outlive a killed run are noticed by a lock of their own.

        Returns
        -------
        file
            To be kept open as long as the lock is to be held.

        Raises
        ------
        InputError
            If another run holds it, or jobs of a killed one still run.
        """
        try:
            Path(self.results).mkdir(parents=True, exist_ok=True)
            run, jobs = (
                open(path, "a", encoding="utf-8")  # noqa: SIM115
                for path in (f"{self.results}/.lock", self.jobs_lock)
            )
        except OSError as error:
            raise InputError(
                "the results folder cannot be written",
                where=self.results,
                found=error.strerror or str(error),
                expected="a folder that may be written",
                todo="choose another one with 'results:'",
            ) from error
        for lock, holder in (
            (run, f"another run is writing into '{self.results}'"),
            (jobs, f"jobs of a killed run are still writing into '{self.results}'"),
        ):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                run.close()
                jobs.close()
                raise InputError(
                    holder, todo="wait until it ends, or set 'results:' to another folder"
                ) from None
        jobs.close()  # free again, for the jobs of this run
        return run

    def redate(self, now: float) -> int:
        """Date what a run made in the future, before the clock was moved back, to `now`.

        Snakemake takes an output that is older than its input for a damaged one.

        Parameters
        ----------
        now : float
            Seconds since 1970.

        Returns
        -------
        int
            Files below the folders for results and sources that were dated anew.
        """
        ahead = [
            path
            for folder in (self.results, self.config["sources"]["folder"])
            for path in Path(folder).rglob("*")
            if not path.is_symlink() and path.is_file() and path.stat().st_mtime > now + _SKEW
        ]
        for path in ahead:
            os.utime(path, (now, now))
        return len(ahead)


def configured_run(config: Mapping[str, Any], schema: Path) -> Run:
    """Check Snakemake's merged configuration.

    Raises
    ------
    InputError
        On the first mistake in the configuration or the source registry.
    """
    checked = check_config(config, load_schema(schema))
    run = Run(checked, load_registry(checked["sources"]["registry"]))
    for name in (
        checked["knowledge"]["hpo"],
        checked["knowledge"]["hpoa"],
        checked["corpora"][run.corpus].get("source"),
    ):
        if name is not None:
            run.source(name)
    run.corpus_path(run.corpus)
    for arm in run.recorded_arms:
        check_recorded(arm, checked["llms"][arm])
        run.recorded_path(arm)
        run.recorded_keys(arm)
    for arm in run.asked_arms:
        entry = checked["llms"][arm]
        check_arm(arm, entry)
        if arm in run.arms and "source" in entry:
            run.source(entry["source"])
    run.fusion.check()
    for ranker in checked["rankers"]:
        method, options = resolve_options(ranker, checked["rankers"])
        check_options(ranker, method, options)
    run.check_stock()
    return run


def _fingerprint(folder: Path) -> str:
    """Digest of names, sizes and times of the files below a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            status = path.stat()
            name = path.relative_to(folder).as_posix()
            digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]
