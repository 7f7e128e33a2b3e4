"""Whether all that a stock program needs is there. Light: the Snakefile asks it of every run."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rarefuse.errors import InputError

PHENOL = (
    "org.monarchinitiative.phenol:phenol-core:1.3.3",
    "org.monarchinitiative.phenol:phenol-io:1.3.3",
    "org.monarchinitiative.phenol:phenol-analysis:1.3.3",
)
"""The reference Phenomizer's artifacts (paper, appendix A.3)."""

LOCAL_REPOSITORY = Path("~/.m2/repository")


def coordinate_paths(coordinate: str) -> tuple[str, str]:
    """File name of a coordinate's jar, and its path in a Maven repository.

    Parameters
    ----------
    coordinate : str
        ``group:artifact:version``.
    """
    parts = coordinate.split(":")
    if len(parts) != 3 or not all(parts):
        raise InputError(
            "a Maven coordinate cannot be read",
            where="config, rankers, artifacts",
            found=coordinate,
            expected="group:artifact:version",
            todo="correct it",
        )
    group, artifact, version = parts
    name = f"{artifact}-{version}.jar"
    return name, f"{group.replace('.', '/')}/{artifact}/{version}/{name}"


def find_jar(coordinate: str, folder: Path) -> Path | None:
    """The jar in a folder of one's own or in Maven's local repository."""
    name, below = coordinate_paths(coordinate)
    places = (folder / name, LOCAL_REPOSITORY.expanduser() / below)
    return next((path for path in places if path.is_file()), None)


def missing_jars(where: str, names: Sequence[str], folder: Path, reasons: str = "") -> InputError:
    """Error that says which jars are missing and how to get them."""
    repository = "https://repo1.maven.org/maven2"
    urls = ", ".join(f"{repository}/{coordinate_paths(name)[1]}" for name in names)
    return InputError(
        "jars of the Java Phenomizer are missing",
        where=where,
        found=f"neither in {folder} nor in {LOCAL_REPOSITORY}: {', '.join(names)}{reasons}",
        expected="the published phenol 1.3.3 artifacts with their dependencies beside them",
        todo=f"download {urls} into {folder}; or let Maven copy them with their dependencies, "
        f"'mvn dependency:copy-dependencies -DoutputDirectory={folder}' in a project that names "
        f"them; or set 'repository: {repository}' to have these (not their dependencies) "
        "downloaded",
    )


def find_java(name: str) -> str:
    """Path of ``java``, ``javac`` or a configured program.

    Raises
    ------
    InputError
        If there is no such program.
    """
    found = shutil.which(name)
    if found is None:
        raise InputError(
            "a stock program needs Java, and there is none",
            where="config, rankers, java",
            found=f"no program '{name}' on the PATH",
            expected="a Java development kit, 17 or newer",
            todo="install one (conda-forge openjdk=17, Debian openjdk-17-jdk), run with "
            "'--sdm conda', or give its path as 'java:'",
        )
    return os.path.abspath(found)  # programs run in folders of their own


def check_lirical(where: str, *, jar: str, data: str, java: str = "java", **_: Any) -> None:
    """Raise `InputError` unless Java, LIRICAL's jar and its data folder are there."""
    find_java(java)
    if not Path(jar).is_file():
        raise InputError(
            "the LIRICAL program is missing",
            where=f"{where}.jar",
            found=f"no file at {jar}",
            expected="lirical-cli-2.4.1.jar with its libraries beside it",
            todo="unpack lirical-cli-2.4.1-distribution.zip from "
            "https://github.com/TheJacksonLaboratory/LIRICAL/releases and give the jar's path",
        )
    if not Path(data).is_dir():
        raise InputError(
            "LIRICAL's data folder is missing",
            where=f"{where}.data",
            found=f"no folder at {data}",
            expected="hp.json, hgnc_complete_set.txt, mim2gene_medgen and what else it needs",
            todo=f"run 'java -jar {jar} download -d {data}'",
        )


def check_phenomizer(
    where: str,
    *,
    jars: str,
    artifacts: Sequence[str] = PHENOL,
    repository: str | None = None,
    java: str = "java",
    javac: str = "javac",
    **_: Any,
) -> None:
    """Raise `InputError` unless Java is there, and the jars are or may be downloaded."""
    find_java(java)
    find_java(javac)
    absent = [name for name in artifacts if find_jar(name, Path(jars)) is None]
    if absent and repository is None:
        raise missing_jars(f"{where}.jars", absent, Path(jars))


def check_pheval(where: str, *, results: str, lopo_results: str) -> None:
    """Raise `InputError` unless the folders of another tool's results are there."""
    for key, folder in (("results", results), ("lopo_results", lopo_results)):
        if not Path(folder).is_dir():
            raise InputError(
                "another tool's results are missing",
                where=f"{where}.{key}",
                found=f"no folder at {folder}",
                expected="a folder that PhEval's post-processing wrote",
                todo="correct the path; docs/diagnose.md says what 'lopo_results' may be",
            )


CHECKS: dict[str, Callable[..., None]] = {
    "lirical-stock": check_lirical,
    "phenomizer-java": check_phenomizer,
    "pheval": check_pheval,
}


def check_present(ranker: str, method: str, options: Mapping[str, Any]) -> None:
    """Raise `InputError` unless all that a configured stock program needs is there."""
    CHECKS[method](f"config, rankers.{ranker}", **options)
