# What every rule file uses: the checked config, paths, and the digests of the code behind a rule.
# Nothing here may import numpy, polars or torch: every job parses this file again.
import fcntl
import json
import os
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

BASE = Path(workflow.basedir)
sys.path.insert(0, str(BASE / "src"))

from rarefuse import __version__ as VERSION
from rarefuse.codedigest import code_digest
from rarefuse.config import check_config, load_schema
from rarefuse.errors import InputError
from rarefuse.rankers.catalogue import METHODS, resolve_options
from rarefuse.sources.registry import find_source, load_registry

# Jobs run `python -m rarefuse` of the interpreter that runs Snakemake, unless an environment
# (`--sdm conda`) puts its own first; the package always comes from this checkout.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(BASE / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
)


conda: str(BASE / "envs/base.yaml")


try:
    SCHEMA = load_schema(BASE / "workflow/schemas/config.schema.yaml")
    CONFIG = check_config(config, SCHEMA)
    REGISTRY = load_registry(CONFIG["sources"]["registry"])
    HPO, HPOA = (
        find_source(REGISTRY, CONFIG["knowledge"][key], CONFIG["sources"]["registry"])
        for key in ("hpo", "hpoa")
    )
    if source := CONFIG["corpora"][CONFIG["corpus"]].get("source"):
        find_source(REGISTRY, source, CONFIG["sources"]["registry"])
except InputError as error:
    raise WorkflowError(str(error)) from None

CORPUS = CONFIG["corpus"]
RESULTS = CONFIG["results"]
RESOURCES = CONFIG["sources"]["folder"]
KNOWLEDGE = f"{RESULTS}/knowledge/{HPO.id}_{HPOA.id}"


wildcard_constraints:
    corpus="|".join(CONFIG["corpora"]),
    ranker=r"[A-Za-z0-9_-]+(\.(seed\d+|uncapped))?",
    protocol="ordinary|lopo",
    table=r"\w+",
    publication=r"PMID_\d+",


def as_json(value):
    """Compact JSON with sorted keys: the same slice of the config is the same text."""
    return json.dumps(value, sort_keys=True)


def ranker_spec(ranker):
    """Method and options of a ranker id."""
    try:
        return resolve_options(ranker, CONFIG["rankers"])
    except InputError as error:
        raise WorkflowError(str(error)) from None


def resource(source_id):
    """Path of a fetched source."""
    return f"{RESOURCES}/{REGISTRY[source_id].file}"


def hold_results_lock():
    """Let one run at a time write into a results folder.

    Snakemake's own lock is a file that outlives a killed run; this one is the system's and goes
    with the process. The handle stays open, and so locked, until then.
    """
    global results_lock
    Path(RESULTS).mkdir(parents=True, exist_ok=True)
    results_lock = open(f"{RESULTS}/.lock", "w")
    try:
        fcntl.flock(results_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise WorkflowError(
            f"another run is writing into '{RESULTS}'; wait until it ends, or set 'results:' to "
            "another folder"
        ) from None


onstart:
    hold_results_lock()
