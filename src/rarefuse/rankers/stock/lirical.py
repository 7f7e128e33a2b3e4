"""The stock LIRICAL program (2.4.1), one process a case, phenotype only.

``java -jar JAR prioritize`` is given the observed and excluded terms of the closed view and a data
folder in which everything is linked to the configured one but ``phenotype.hpoa``, which is the
release's own text under the ordinary protocol and that without one publication's exclusive rows
under LOPO (paper, appendix A.3). A publication that removes nothing has the release's own file, so
its cases are not run again.

The program orders diseases by descending post-test probability with a stable sort. That is 1.0 for
every huge likelihood ratio, and among such diseases the order is the program's input order: a tie.
"""

import json
import math
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl

from rarefuse.annotations.lopo import exclusive_rows, without_rows
from rarefuse.errors import InputError
from rarefuse.rankers.base import LOPO, ORDINARY
from rarefuse.rankers.stock.answers import ANSWER, Store, digest, terms_of
from rarefuse.rankers.stock.presence import check_lirical, find_java
from rarefuse.rankers.stock.process import (
    GARBAGE,
    INCOMPLETE,
    NO_OUTPUT,
    UNORDERED,
    Failure,
    file_digest,
    folder_digest,
    run_process,
)
from rarefuse.rankers.stock.world import World

HPOA_NAME = "phenotype.hpoa"
# The program writes numbers as the machine's language does.
JAVA_LOCALE = ("-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8")
TSV_COLUMNS = (
    "rank",
    "diseaseName",
    "diseaseCurie",
    "pretestprob",
    "posttestprob",
    "compositeLR",
)

Outcome = pl.DataFrame | Failure


class _Unreadable(Exception):
    """What is wrong with an output: a reason to count by, and a detail."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.failure = Failure(reason, detail)


@dataclass(frozen=True)
class LiricalStock:
    """The LIRICAL jar.

    Parameters
    ----------
    jar : str
        ``lirical-cli-2.4.1.jar`` as it lies in the distribution, its libraries beside it.
    sha256 : str
        Digest of the jar, checked before it is executed.
    data : str
        LIRICAL's data folder; its own ``phenotype.hpoa`` is not used.
    output : str
        ``json`` (numbers in full) or ``tsv`` (probabilities in rounded per cent: many more ties).
    excluded : bool
        Whether excluded terms are given.
    java : str
        The Java program.
    java_options : tuple of str
        Further options of the Java machine, such as ``-Xmx4g``.
    time_limit : float
        Seconds a case.
    """

    jar: str
    sha256: str
    data: str
    output: str = "json"
    excluded: bool = True
    java: str = "java"
    java_options: tuple[str, ...] = ()
    time_limit: float = 600.0

    def present(self, where: str) -> None:
        """Raise `InputError` unless Java, the jar and the data folder are there."""
        check_lirical(where, jar=self.jar, data=self.data, java=self.java)

    def verify(self) -> None:
        """Raise `InputError` unless the jar is the pinned one."""
        found = file_digest(self.jar)
        if found != self.sha256.lower():
            raise InputError(
                "the LIRICAL program is not the pinned one; it was not executed",
                where=self.jar,
                found=f"sha256 {found}",
                expected=f"sha256 {self.sha256.lower()}",
                todo="use the release's own jar, or correct 'sha256:' in the config",
            )

    def identity(self, world: World) -> str:
        """Digest of all that an answer depends on but the annotation file and the case."""
        libraries = Path(self.jar).parent / "lib"
        return digest(
            self.sha256.lower(),
            folder_digest(libraries) if libraries.is_dir() else "",
            folder_digest(Path(self.data), skip=(HPOA_NAME,)),
            self.output,
            self.excluded,
            list(self.java_options),
            world.hpoa_digest,
        )

    def answers(
        self, world: World, store: Store, threads: int
    ) -> Iterator[tuple[str, str, Outcome]]:
        """Answer every case under both protocols.

        Yields
        ------
        (protocol, case_id, `ANSWER` or Failure)
        """
        queries = world.queries
        removed = exclusive_rows(world.relations, {p for p in queries.publications if p})
        everyone = list(range(len(queries)))
        yield from self._group(world, store, ORDINARY, everyone, [], threads)
        by_publication: dict[str, list[int]] = {}
        for i in everyone:
            by_publication.setdefault(queries.publications[i] or "", []).append(i)
        for publication, members in by_publication.items():
            rows = removed.get(publication, [])
            yield from self._group(world, store, LOPO, members, rows, threads)

    def _group(
        self,
        world: World,
        store: Store,
        protocol: str,
        members: Sequence[int],
        removed: list[int],
        threads: int,
    ) -> Iterator[tuple[str, str, Outcome]]:
        """Answers of cases that share an annotation file; the file is made if one lacks."""
        annotations = f"annotations-{digest(removed)}"
        missing: list[tuple[str, list[str], list[str], Path]] = []
        for i in members:
            case_id = world.queries.case_ids[i]
            observed, excluded = terms_of(world.queries, i, world.knowledge.ontology.term_ids)
            path = store.path(annotations, case_id, digest(observed, excluded))
            frame = store.read(path)
            if frame is None:
                missing.append((case_id, observed, excluded if self.excluded else [], path))
            else:
                yield protocol, case_id, frame
        if not missing:
            return
        with self._data_folder(world, store, removed) as (data, scratch):

            def run(job: tuple[str, list[str], list[str], Path]) -> tuple[str, Outcome]:
                case_id, observed, excluded, path = job
                outcome = self._case(data, scratch, case_id, observed, excluded)
                if not isinstance(outcome, Failure):
                    store.write(outcome, path)
                return case_id, outcome

            yield from (
                (protocol, case_id, outcome)
                for case_id, outcome in _in_order(run, missing, threads)
            )

    @contextmanager
    def _data_folder(
        self, world: World, store: Store, removed: list[int]
    ) -> Iterator[tuple[Path, Path]]:
        """Temporary data folder with its own annotation file, and a folder for outputs."""
        store.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="scratch-", dir=store.folder) as name:
            data, scratch = Path(name) / "data", Path(name) / "out"
            data.mkdir()
            scratch.mkdir()
            for path in Path(self.data).resolve().iterdir():
                if path.name != HPOA_NAME:
                    (data / path.name).symlink_to(path)
            text = without_rows(world.hpoa_lines, removed)
            (data / HPOA_NAME).write_bytes(text.encode())
            yield data, scratch

    def command(
        self, data: Path, output: Path, case_id: str, observed: list[str], excluded: list[str]
    ) -> list[str | Path]:
        """Command line of one case."""
        jar = Path(self.jar).resolve()
        return [
            find_java(self.java), *JAVA_LOCALE, *self.java_options, "-jar", jar,
            "prioritize", "--data", data, "--observed-phenotypes", ",".join(observed),
            *(["--negated-phenotypes", ",".join(excluded)] if excluded else []),
            "--output-directory", output, "--prefix", case_id, "--output-format", self.output,
        ]  # fmt: skip

    def _case(
        self, data: Path, scratch: Path, case_id: str, observed: list[str], excluded: list[str]
    ) -> Outcome:
        output = scratch / case_id
        output.mkdir()
        failure = run_process(
            self.command(data, output, case_id, observed, excluded),
            time_limit=self.time_limit,
            log=output / "log.txt",
            cwd=output,
        )
        if failure is not None:
            return failure
        path = output / f"{case_id}.{self.output}"
        if not path.is_file():
            return Failure(NO_OUTPUT, f"the program ended well but wrote no {path.name}")
        try:
            return parse_json(path) if self.output == "json" else parse_tsv(path)
        except _Unreadable as error:
            return error.failure
        finally:
            path.unlink()


def _in_order(
    run: Callable[[tuple[str, list[str], list[str], Path]], tuple[str, Outcome]],
    jobs: Sequence[tuple[str, list[str], list[str], Path]],
    threads: int,
) -> Iterator[tuple[str, Outcome]]:
    """Run jobs side by side and give their results in order; what waits is dropped on an error."""
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(run, jobs)
    finally:
        pool.shutdown(cancel_futures=True)


def parse_json(path: Path) -> pl.DataFrame:
    """`ANSWER` of LIRICAL's JSON output: `analysisResults`, by descending post-test probability.

    The score is the natural logarithm of `compositeLR`; ties are equal `posttestProbability`. The
    pretest probability is 1 over the number of diseases, which says how many results there must be.
    """
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["analysisResults"]
        rows = [
            (
                str(r["diseaseId"]),
                float(r["compositeLR"]),
                float(r["posttestProbability"]),
                float(r["pretestProbability"]),
            )
            for r in results
        ]
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise _Unreadable(GARBAGE, f"not LIRICAL's JSON: {type(error).__name__}: {error}") from None
    return _answer(
        [disease for disease, *_ in rows],
        [ratio for _, ratio, *_ in rows],
        [posttest for *_, posttest, _ in rows],
        rows[0][3] if rows else 0.0,
    )


def parse_tsv(path: Path) -> pl.DataFrame:
    """`ANSWER` of LIRICAL's TSV output; comment lines begin with ``!``, thousands have commas.

    As `parse_json`, but the post-test probability is a percentage rounded for reading.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _Unreadable(GARBAGE, f"not UTF-8: {error}") from None
    lines = [line for line in text.split("\n") if line and not line.startswith("!")]
    if not lines or tuple(lines[0].split("\t")[: len(TSV_COLUMNS)]) != TSV_COLUMNS:
        found = lines[0][:80] if lines else "nothing"
        raise _Unreadable(GARBAGE, f"no header with {', '.join(TSV_COLUMNS)}, but {found!r}")
    if not text.endswith("\n"):
        raise _Unreadable(INCOMPLETE, f"the last line is cut off: {lines[-1][:80]!r}")
    diseases, ratios, posttests, pretest = [], [], [], 0.0
    for place, line in enumerate(lines[1:], start=1):
        fields = line.split("\t")
        if len(fields) < len(TSV_COLUMNS):
            raise _Unreadable(INCOMPLETE, f"row {place} has {len(fields)} fields: {line[:80]!r}")
        try:
            rank, ratio = int(fields[0].replace(",", "")), float(fields[5].replace(",", ""))
            pretest, posttest = _probability(fields[3]), _probability(fields[4])
        except (ValueError, ZeroDivisionError):
            raise _Unreadable(GARBAGE, f"row {place} is no result: {line[:80]!r}") from None
        if rank != place:
            raise _Unreadable(GARBAGE, f"rank {rank} stands in row {place}")
        diseases.append(fields[2])
        ratios.append(ratio)
        posttests.append(posttest)
    return _answer(diseases, ratios, posttests, pretest)


def _probability(text: str) -> float:
    if match := re.fullmatch(r"1/([\d,]+)", text):
        return 1.0 / int(match[1].replace(",", ""))
    return float(text[:-1]) / 100.0 if text.endswith("%") else float(text)


def _answer(
    diseases: list[str], ratios: list[float], posttests: list[float], pretest: float
) -> pl.DataFrame:
    if not diseases:
        raise _Unreadable(INCOMPLETE, "the output names no disease")
    if any(math.isnan(ratio) or ratio < 0 for ratio in ratios):
        raise _Unreadable(GARBAGE, "a likelihood ratio is negative or no number")
    if not all(0.0 <= posttest <= 1.0 for posttest in posttests):  # false for NaN, too
        raise _Unreadable(GARBAGE, "a post-test probability is not in 0..1")
    if len(set(diseases)) < len(diseases):
        raise _Unreadable(GARBAGE, "a disease is named twice")
    # A probability below any that a number of diseases has says nothing (and 1 / it may overflow).
    expected = round(1.0 / pretest) if pretest > 1e-9 else 0
    if len(diseases) != expected:
        raise _Unreadable(
            INCOMPLETE, f"{len(diseases)} diseases, where the pretest probability says {expected}"
        )
    for place, (before, after) in enumerate(pairwise(posttests), start=2):
        if after > before:
            raise _Unreadable(
                UNORDERED,
                f"the post-test probability rises from {before:g} to {after:g} in row {place}",
            )
    return pl.DataFrame(
        {
            "place": range(1, len(diseases) + 1),
            "disease_id": diseases,
            "score": [math.log(ratio) if ratio > 0 else -math.inf for ratio in ratios],
            "p_value": None,
            "posttest": posttests,
        },
        schema=ANSWER.dtypes,
    )
