"""The overlap audit as one command: files in; tables, page and terminal table out."""

import gzip
import hashlib
import os
import shutil
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import polars as pl
from tqdm import tqdm

from rarefuse import artifacts
from rarefuse.annotations.crosswalk import read_crosswalk
from rarefuse.annotations.hpoa import read_hpoa, read_text, stated_release
from rarefuse.annotations.lopo import removed_rows, without_rows
from rarefuse.annotations.pmid import pmid, pmids_of
from rarefuse.annotations.relations import Relations, build_relations
from rarefuse.annotations.stated import StatedTerms, stated_ontology
from rarefuse.artifacts import Schema
from rarefuse.corpus.detect import detect_reader
from rarefuse.corpus.phenopackets import PUBLICATION
from rarefuse.corpus.readers import READERS, read_corpus, reader_options
from rarefuse.errors import InputError
from rarefuse.ontology import read_obo
from rarefuse.provenance.overlap_audit import (
    AUDITED,
    LOPO_RELATIONS,
    PUBLICATIONS,
    SUMMARY,
    OverlapAudit,
    Resampling,
    audit_overlap,
)
from rarefuse.report.labels import MISSING, percent
from rarefuse.report.overlap_page import InputFile, Reading, render_overlap_page
from rarefuse.report.overlap_text import terminal_table

PAGE = "index.html"


def overlap_stage(
    *,
    hpoa: Path,
    cases: Path,
    hpo: Path | None = None,
    disease_map: Path | None = None,
    reader: str | None = None,
    options: Mapping[str, Any] | None = None,
    output: Path,
    fail_above: float | None = None,
    write_hpoa: Path | None = None,
    publication_files: Sequence[str] = (),
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 20260902,
    stream: TextIO | None = None,
) -> int:
    """Audit cases against an annotation release and write what was found.

    Parameters
    ----------
    hpoa : Path
        ``phenotype.hpoa`` of any release since 2018, gzipped or not.
    cases : Path
        What a reader of `READERS` reads.
    hpo : Path, optional
        Ontology; without it terms are compared as they stand.
    disease_map : Path, optional
        See `rarefuse.annotations.crosswalk.read_crosswalk`.
    reader : str, optional
        Key of `READERS`; told by the content of `cases` if not given.
    options : mapping, optional
        The reader's own options.
    output : Path
        Folder for cases.parquet, cases.tsv, publications.tsv, lopo.tsv, summary.tsv, index.html.
    fail_above : float, optional
        Share in 0..1 above which the status is 1.
    write_hpoa : Path, optional
        Folder for the publications' LOPO files.
    publication_files : sequence of str
        Publications to write one for; all that lose an annotation if empty.
    resamples, level, seed : int, float, int
        Of the bootstrap.
    stream : file, optional
        Where the table is printed; standard output by default.

    Returns
    -------
    int
        0; 1 if the overlap share is above `fail_above`, or cannot be told and a limit was set.

    Raises
    ------
    InputError
        If an input is missing, damaged or of another kind, or the output cannot be written.
    """
    _writable(output)
    _check_requests(reader, write_hpoa, publication_files)
    text = read_text(hpoa)
    annotations = read_hpoa(hpoa)
    ontology = stated_ontology(annotations) if hpo is None else read_obo(hpo)
    resolver = StatedTerms(ontology) if hpo is None else ontology
    built = build_relations(annotations, ontology)
    name = cases.name.split(".")[0] or "cases"
    kind = reader or detect_reader(name, cases)
    _check_options(kind, options or {})
    corpus = read_corpus(kind, name, cases, resolver, options)
    crosswalk = None if disease_map is None else read_crosswalk(disease_map)
    resampling = Resampling(resamples, level, seed)
    audit = audit_overlap(corpus, annotations, built, crosswalk, resampling)
    files = [] if write_hpoa is None else _wanted(publication_files, audit, annotations)
    if write_hpoa is not None:
        free = shutil.disk_usage(write_hpoa).free
        check_space(write_hpoa, len(files), len(text.encode()), free)
    reading = Reading(
        cases=_described("Cases", cases, None),
        hpoa=_described("Annotations", hpoa, stated_release(text)[0]),
        hpo=None if hpo is None else _described("Ontology", hpo, _obo_release(hpo)),
        disease_map=None if disease_map is None else _described("Disease map", disease_map, None),
        reader=kind,
        skipped=corpus.skipped,
        problems=built.problems,
    )
    for frame, schema, file in (
        (audit.cases, AUDITED, "cases"),
        (audit.publications, PUBLICATIONS, "publications"),
        (audit.lopo, LOPO_RELATIONS, "lopo"),
        (audit.summary, SUMMARY, "summary"),
    ):
        _write_tsv(frame, schema, output / f"{file}.tsv")
    artifacts.write(audit.cases, AUDITED, output / "cases.parquet")
    artifacts.write_text(render_overlap_page(audit, reading, resampling), output / PAGE)
    if write_hpoa is not None:
        _write_files(write_hpoa, files, built, text)
    print(
        terminal_table(audit, reading.release, str(output / PAGE), level),
        file=sys.stdout if stream is None else stream,
    )
    return _status(audit, fail_above)


def _status(audit: OverlapAudit, fail_above: float | None) -> int:
    if fail_above is None:
        return 0
    share = audit.value("overlap_share")
    if share is None:
        print("failed: overlap cannot be told, so the limit cannot be checked", file=sys.stderr)
        return 1
    if share > fail_above:
        found, limit = percent(share).replace("\u00a0", " "), f"{100 * fail_above:g} %"
        print(f"failed: overlap of {found} is above the limit of {limit}", file=sys.stderr)
        return 1
    return 0


def _writable(folder: Path) -> None:
    """Find out before the long work whether its results can be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError("permission denied")
    except OSError as error:
        raise InputError(
            "the output folder cannot be written",
            where=str(folder),
            found=error.strerror or str(error),
            expected="a folder that may be written, or a place where one may be made",
            todo="choose another with --output",
        ) from error


def _check_requests(
    reader: str | None, write_hpoa: Path | None, publication_files: Sequence[str]
) -> None:
    if reader is not None and reader not in READERS:
        raise InputError(
            "there is no such reader",
            where="--reader",
            found=reader,
            expected=", ".join(sorted(READERS)),
            todo="leave it out to have the format told by the content",
        )
    if publication_files and write_hpoa is None:
        raise InputError(
            "a publication's file needs a folder",
            where="--publication-file",
            found="no --write-hpoa",
            todo="add --write-hpoa FOLDER",
        )
    if write_hpoa is not None:
        _writable(write_hpoa)


def _check_options(kind: str, options: Mapping[str, Any]) -> None:
    """Name the command's own options, where a reader would name the config's keys."""
    allowed = reader_options(kind)
    for option in options:
        if option not in allowed:
            raise InputError(
                f"the reader '{kind}' has no such option",
                where=f"--{option}",
                expected=", ".join(f"--{name}" for name in allowed) or "no option of its own",
                todo="leave it out, or say with --reader what the cases are",
            )
    publication = options.get("publication")
    if publication is not None and publication not in PUBLICATION:
        raise InputError(
            "no such way to find a phenopacket's publication",
            where="--publication",
            found=str(publication),
            expected=", ".join(PUBLICATION),
            todo="correct the option",
        )


def _write_tsv(frame: pl.DataFrame, schema: Schema, path: Path) -> None:
    schema.check(frame, str(path))
    flat = frame.with_columns(
        pl.col(column.name).cast(pl.List(pl.String)).list.join(";").replace("", None)
        for column in schema.columns
        if isinstance(column.dtype, pl.List)
    )
    artifacts.write_text(flat.write_csv(separator="\t"), path)


def _write_files(folder: Path, publications: Sequence[str], built: Relations, text: str) -> None:
    """One ``phenotype.hpoa`` a publication, where its relations are left out."""
    lines = text.split("\n")
    progress = tqdm(publications, desc="LOPO files", unit="file", file=sys.stderr, disable=None)
    for publication in progress:
        rows = removed_rows(built.relations, publication)
        path = folder / f"{publication.replace(':', '_')}.hpoa"
        artifacts.write_text(without_rows(lines, rows), path)


def check_space(folder: Path, files: int, size: int, free: int) -> None:
    """Raise `InputError` unless `files` of `size` bytes each fit into `free` bytes."""
    if files * size > free:
        raise InputError(
            "the publications' annotation files do not fit on the disk",
            where=str(folder),
            found=f"{free / 1e9:.1f} GB free",
            expected=f"{files * size / 1e9:.1f} GB for {files} files",
            todo="choose another folder, or single publications with --publication-file",
        )


def _wanted(wanted: Sequence[str], audit: OverlapAudit, annotations: pl.DataFrame) -> list[str]:
    if not wanted:
        losing = audit.publications.filter(pl.col("n_removed") > 0)
        return losing["publication_id"].to_list()
    known = set(audit.publications["publication_id"])
    known |= {p for reference in annotations["reference"].unique() for p in pmids_of(reference)}
    publications = {text: pmid(text) for text in wanted}
    for text, publication in publications.items():
        if publication not in known:
            raise InputError(
                "the publication is neither a case's nor cited by any annotation",
                where="--publication-file",
                found=text,
                expected="a PMID of the cases or of the annotations, such as PMID:12345678",
                todo="check the number; publications.tsv lists the cases' publications",
            )
    return sorted({p for p in publications.values() if p is not None})


def _described(role: str, path: Path, release: str | None) -> InputFile:
    """Name, size and digest of a file or of all files below a folder."""
    name = path.name or path.resolve().name
    if not path.is_dir():
        size, digest = _digest(path)
        return InputFile(role, name, release or MISSING, size, digest)
    together, total = hashlib.sha256(), 0
    for file in sorted(path.rglob("*")):
        if file.is_file():
            size, digest = _digest(file)
            total += size
            together.update(os.fsencode(file.relative_to(path).as_posix()))
            together.update(f"\0{digest}\n".encode())
    return InputFile(role, name, release or MISSING, total, together.hexdigest())


def _digest(path: Path) -> tuple[int, str]:
    try:
        with path.open("rb") as handle:
            return path.stat().st_size, hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            "an input cannot be read",
            where=str(path),
            found=error.strerror or str(error),
            expected="a file that may be read",
            todo="check its permissions",
        ) from error


def _obo_release(path: Path) -> str | None:
    """What the header's ``data-version`` states, less its folders."""
    opener = gzip.open if str(path).endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8") as handle:
            for _, line in zip(range(50), handle, strict=False):
                if line.startswith("data-version:"):
                    parts = line.partition(":")[2].strip().split("/")
                    return next((p for p in reversed(parts) if p[:1].isdigit()), parts[-1])
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            "the ontology cannot be read", where=str(path), found=str(error)
        ) from error
    return None
