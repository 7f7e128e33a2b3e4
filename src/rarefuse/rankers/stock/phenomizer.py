"""The Java Phenomizer: similarity, null sampling and p-values by the phenol 1.3.3 jars.

A small driver of ours (``java/PhenomizerDriver.java``) is compiled against the verified jars and
given the ontology, the information content, profiles and queries (paper, appendix A.3: "we supply
the query term sets and information-content values"); so none of the library's old file readers
meets a new release. The work is cut into units, every case of a unit against every profile of it:
for the ordinary protocol one query size and some hundred diseases, for LOPO one publication's
cases and the diseases that it touches. A finished unit is never computed again. Under LOPO an
untouched disease keeps its ordinary score and p-value, so a case with nothing removed keeps its
whole list.
"""

import io
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rarefuse.errors import InputError
from rarefuse.rankers.base import LOPO, ORDINARY, lopo_columns
from rarefuse.rankers.order import java_hash_order
from rarefuse.rankers.stock.answers import ANSWER, Store, digest
from rarefuse.rankers.stock.maven import get_jars, verify_jars
from rarefuse.rankers.stock.presence import PHENOL, check_phenomizer, find_java
from rarefuse.rankers.stock.process import (
    GARBAGE,
    INCOMPLETE,
    NO_OUTPUT,
    Failure,
    file_digest,
    run_process,
)
from rarefuse.rankers.stock.world import World

DRIVER = Path(__file__).parent / "java" / "PhenomizerDriver.java"
LARGEST_NULL = 10
COLUMNS = ("case_id", "disease_id", "similarity", "p_value")
STARTS_WITHOUT_PROGRESS = 3
"""So many processes in a row that finish no unit end the run: each start costs minutes."""

Outcome = pl.DataFrame | Failure


@dataclass(frozen=True)
class Unit:
    """Cases to compare with profiles.

    Parameters
    ----------
    cases : list of int
        Queries.
    diseases : list of int
        Candidate rows, aligned with `profiles`.
    profiles : list of ndarray
        Ontology rows of each profile, none empty.
    """

    cases: list[int]
    diseases: list[int]
    profiles: list[NDArray[np.int32]]

    def text(self, world: World) -> str:
        """The unit as the driver reads it."""
        terms, queries = world.knowledge.ontology.term_ids, world.queries
        lines = [
            f"P\t{world.knowledge.disease_ids[disease]}\t{','.join(terms[t] for t in profile)}"
            for disease, profile in zip(self.diseases, self.profiles, strict=True)
        ]
        for i in self.cases:
            observed = queries.observed[queries.observed_ptr[i] : queries.observed_ptr[i + 1]]
            lines.append(f"Q\t{queries.case_ids[i]}\t{','.join(terms[t] for t in observed)}")
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class PhenomizerJava:
    """The reference Phenomizer.

    Parameters
    ----------
    jars : str
        Folder with the artifacts and their dependencies; all its jars are on the class path.
    artifacts : tuple of str
        Maven coordinates; also looked for in Maven's local repository.
    sha1 : tuple of str
        Their digests, checked before anything is executed; those of the paper by default.
    repository : str, optional
        Maven repository to download what is missing from.
    samples : int
        Random queries a null distribution.
    diseases : int
        Diseases a unit of the ordinary protocol.
    java, javac : str
        The Java programs.
    java_options : tuple of str
        Further options of the Java machine; the pair table alone takes 1.6 GB.
    time_limit : float
        Seconds that may pass without a finished unit.
    """

    jars: str
    artifacts: tuple[str, ...] = PHENOL
    sha1: tuple[str, ...] = (
        "b42430be0f60815ef3f2e0d8b5b9d81af4c3f42c",
        "096ac16a46861c632d357d4602fdd78c12dc785e",
        "a18da0be3ae6eef15ab91098fb24c16e11ab17d8",
    )
    repository: str | None = None
    samples: int = 100_000
    diseases: int = 500
    java: str = "java"
    javac: str = "javac"
    java_options: tuple[str, ...] = ("-Xmx5g",)
    time_limit: float = 86_400.0

    def present(self, where: str) -> None:
        """Raise `InputError` unless Java is there, and the jars are or may be downloaded."""
        check_phenomizer(
            where, jars=self.jars, artifacts=self.artifacts, repository=self.repository,
            java=self.java, javac=self.javac,
        )  # fmt: skip

    def verify(self) -> None:
        """Get the jars and raise `InputError` unless they are the pinned ones."""
        verify_jars(self._pinned(), self.sha1)

    def _pinned(self) -> list[Path]:
        return get_jars(self.artifacts, Path(self.jars), self.repository, "config, rankers, jars")

    def class_path(self) -> list[Path]:
        """The pinned jars, then everything else in the folder."""
        pinned = [path.resolve() for path in self._pinned()]
        others = sorted(path.resolve() for path in Path(self.jars).glob("*.jar"))
        return [*pinned, *(path for path in others if path not in pinned)]

    def identity(self, world: World) -> str:
        """Digest of all that an answer depends on but profiles and queries."""
        ontology = world.knowledge.ontology
        return digest(
            [file_digest(path) for path in self.class_path()],
            file_digest(DRIVER),
            self.samples,
            ontology.term_ids,
            ontology.parents.tolist(),
            ontology.parent_ptr.tolist(),
            [repr(value) for value in world.knowledge.ic.tolist()],
        )

    def answers(
        self, world: World, store: Store, threads: int
    ) -> Iterator[tuple[str, str, Outcome]]:
        """Answer every case under both protocols.

        Yields
        ------
        (protocol, case_id, `ANSWER` or Failure)
        """
        sizes = {
            size: ordinary_units(world, size, self.diseases)
            for size in range(1, LARGEST_NULL + 1)
            if _of_size(world, size)
        }
        touched = lopo_units(world)
        failed = self._compute(
            world, store, [*(u for units in sizes.values() for u in units), *touched.values()],
            threads,
        )  # fmt: skip
        order = java_hash_order(world.knowledge.disease_ids, world.knowledge.first_rows)
        for size, units in sizes.items():
            yield from _answers_of_size(world, store, _of_size(world, size), units, touched,
                                        failed, order)  # fmt: skip

    def _compute(
        self, world: World, store: Store, units: Sequence[Unit], threads: int
    ) -> dict[Path, Failure]:
        """Let the driver work until every unit has its file; what it could not do, and why."""
        failed: dict[Path, Failure] = {}
        todo = {
            path: unit for unit in units if not (path := unit_path(world, store, unit)).exists()
        }
        if not todo:
            return failed
        store.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="scratch-", dir=store.folder) as name:
            scratch = Path(name)
            # In place at once, so that a killed job keeps them; the driver moves whole files only.
            output = store.folder / "units"
            output.mkdir(exist_ok=True)
            command = self._prepare(world, scratch, output, threads)
            without_progress = 0
            while todo:
                _write_units(world, scratch / "units", todo)
                failure = run_process(
                    command, time_limit=self.time_limit, log=scratch / "log.txt",
                    progress=lambda: len(list(output.glob("*.tsv"))),
                )  # fmt: skip
                done = [path for path in todo if path.exists()]
                for path in done:
                    del todo[path]
                if failure is None and todo:
                    failure = Failure(NO_OUTPUT, "the driver ended well without this unit")
                if failure is not None and todo:
                    # Units are worked on in the order of their names: the first has failed.
                    first = min(todo, key=lambda path: path.name)
                    failed[first] = failure
                    del todo[first]
                without_progress = 0 if done else without_progress + 1
                if without_progress == STARTS_WITHOUT_PROGRESS:
                    assert failure is not None
                    failed |= dict.fromkeys(todo, failure)
                    break
        return failed

    def _prepare(self, world: World, scratch: Path, output: Path, threads: int) -> list[str | Path]:
        """Compile the driver, write what all units share, and give the driver's command."""
        classes = scratch / "classes"
        for folder in (scratch / "units", classes):
            folder.mkdir()
        path = ":".join(map(str, self.class_path()))
        log = scratch / "javac.txt"
        failure = run_process(
            [find_java(self.javac), "-encoding", "UTF-8", "-cp", path, "-d", classes, DRIVER],
            time_limit=600.0, log=log,
        )  # fmt: skip
        if failure is not None:
            raise InputError(
                "the Phenomizer's driver does not compile against the configured jars",
                where=str(DRIVER),
                found=failure.detail,
                expected="phenol 1.3.3 with its dependencies (guava, jgrapht-core, slf4j-api)",
                todo=f"put the dependencies into {self.jars}",
            )
        ontology = world.knowledge.ontology
        ids, ptr = ontology.term_ids, ontology.parent_ptr
        (scratch / "terms.tsv").write_text(
            "".join(
                f"{term}\t{ic!r}\n"
                for term, ic in zip(ids, world.knowledge.ic.tolist(), strict=True)
            ),
            encoding="utf-8",
        )
        (scratch / "edges.tsv").write_text(
            "".join(
                f"{ids[t]}\t{ids[parent]}\n"
                for t in range(len(ids))
                for parent in ontology.parents[ptr[t] : ptr[t + 1]]
            ),
            encoding="utf-8",
        )
        return [
            find_java(self.java), *self.java_options, "-Dfile.encoding=UTF-8",
            "-cp", f"{classes}:{path}", "PhenomizerDriver", scratch, output,
            str(self.samples), str(threads),
        ]  # fmt: skip


def _of_size(world: World, size: int) -> list[int]:
    """Queries whose null is that of `size`."""
    return np.flatnonzero(np.minimum(world.queries.sizes, LARGEST_NULL) == size).tolist()


def ordinary_units(world: World, size: int, step: int) -> list[Unit]:
    """Units of the ordinary protocol for one query size."""
    knowledge = world.knowledge
    rows = [d for d in range(len(knowledge.disease_ids)) if len(knowledge.profile(d))]
    return [
        Unit(_of_size(world, size), part, [knowledge.profile(d) for d in part])
        for part in (rows[begin : begin + step] for begin in range(0, len(rows), step))
    ]


def lopo_units(world: World) -> dict[str, Unit]:
    """Publication → its cases and the remaining profiles of the diseases that it touches."""
    columns = lopo_columns(world.knowledge, world.queries, world.removed)
    units: dict[str, Unit] = {}
    for c in range(len(columns)):
        profile = columns.terms[columns.ptr[c] : columns.ptr[c + 1]]
        cases = list(range(int(columns.start[c]), int(columns.stop[c])))
        publication = world.queries.publications[cases[0]]
        assert publication is not None
        unit = units.setdefault(publication, Unit(cases, [], []))
        if len(profile):
            unit.diseases.append(int(columns.disease[c]))
            unit.profiles.append(profile)
    return {publication: unit for publication, unit in units.items() if unit.diseases}


def unit_path(world: World, store: Store, unit: Unit) -> Path:
    """File of a unit's result; its name stands for the unit's whole content."""
    return store.folder / "units" / f"{digest(unit.text(world))}.tsv"


def _write_units(world: World, folder: Path, units: dict[Path, Unit]) -> None:
    for path in folder.iterdir():
        path.unlink()
    for path, unit in units.items():
        (folder / path.name).write_text(unit.text(world), encoding="utf-8")


def read_unit(world: World, unit: Unit, path: Path) -> NDArray[np.float64] | Failure:
    """Similarity and p-value, shape (2, cases, diseases), or what is wrong with the file."""
    try:
        frame = pl.read_csv(
            io.BytesIO(path.read_bytes()), separator="\t", quote_char=None,
            schema=dict(zip(COLUMNS, (pl.String, pl.String, pl.Float64, pl.Float64), strict=True)),
        )  # fmt: skip
    except (pl.exceptions.PolarsError, OSError) as error:
        return Failure(GARBAGE, f"{path.name}: {str(error).splitlines()[0]}")
    expected = len(unit.cases) * len(unit.diseases)
    if frame.height != expected:
        return Failure(INCOMPLETE, f"{path.name}: {frame.height} rows, expected {expected}")
    ids = world.knowledge.disease_ids
    cases = np.repeat([world.queries.case_ids[i] for i in unit.cases], len(unit.diseases))
    diseases = np.tile([ids[d] for d in unit.diseases], len(unit.cases))
    values = frame.select("similarity", "p_value").to_numpy().T
    if (
        frame["case_id"].to_list() != cases.tolist()
        or frame["disease_id"].to_list() != diseases.tolist()
    ):
        return Failure(GARBAGE, f"{path.name}: other cases or diseases than asked for")
    if not (np.isfinite(values).all() and (values[1] >= 0).all() and (values[1] <= 1).all()):
        return Failure(GARBAGE, f"{path.name}: a similarity or p-value that cannot be one")
    return np.ascontiguousarray(values).reshape(2, len(unit.cases), len(unit.diseases))


def _checked(
    world: World, store: Store, unit: Unit, failed: dict[Path, Failure]
) -> NDArray[np.float64] | Failure:
    """Result of a unit; a file that cannot be used is removed, so that it is computed again."""
    path = unit_path(world, store, unit)
    if path in failed:
        return failed[path]
    result = read_unit(world, unit, path)
    if isinstance(result, Failure):
        path.unlink(missing_ok=True)
    return result


def _answers_of_size(
    world: World,
    store: Store,
    cases: list[int],
    units: Sequence[Unit],
    touched: dict[str, Unit],
    failed: dict[Path, Failure],
    order: NDArray[np.int32],
) -> Iterator[tuple[str, str, Outcome]]:
    """Answers, both protocols, of the cases that share a null size."""
    n = len(world.knowledge.disease_ids)
    values = np.full((2, len(cases), n), np.nan)
    wrong: Failure | None = None
    for unit in units:
        result = _checked(world, store, unit, failed)
        if isinstance(result, Failure):
            wrong = wrong or result
        else:
            values[:, :, unit.diseases] = result
    gone = {
        publication: [world.knowledge.disease_index[d] for d in rows]
        for (publication,), rows in (
            (key, part["disease_id"].unique().to_list())
            for key, part in world.removed.group_by("publication_id")
        )
    }
    for row, i in enumerate(cases):
        case_id, publication = world.queries.case_ids[i], world.queries.publications[i] or ""
        yield ORDINARY, case_id, wrong or _ranked(world, values[:, row], order)
        outcome: Outcome | None = wrong
        if outcome is None:
            under_lopo = values[:, row].copy()
            under_lopo[:, gone.get(publication, [])] = np.nan
            if publication in touched:
                unit = touched[publication]
                result = _checked(world, store, unit, failed)
                if isinstance(result, Failure):
                    outcome = result
                else:
                    under_lopo[:, unit.diseases] = result[:, unit.cases.index(i)]
            outcome = outcome if outcome is not None else _ranked(world, under_lopo, order)
        yield LOPO, case_id, outcome


def _ranked(world: World, values: NDArray[np.float64], order: NDArray[np.int32]) -> pl.DataFrame:
    """`ANSWER` of one case: p ascending, similarity descending, the reference's iteration order."""
    score, p_value = values
    rows = np.lexsort((order, -score, p_value))
    rows = rows[~np.isnan(score[rows])]
    ids = pl.Series(world.knowledge.disease_ids, dtype=pl.String)
    return pl.DataFrame(
        {
            "place": np.arange(1, len(rows) + 1, dtype=np.int32),
            "disease_id": ids.gather(rows),
            "score": score[rows],
            "p_value": p_value[rows],
            "posttest": None,
        },
        schema=ANSWER.dtypes,
    )
