# The checked config of this run, and what every rule file uses of it.
# Nothing here may import numpy, polars or torch: every job parses this file again.
import os
import re
import sys
import time
from pathlib import Path
from shlex import quote

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

sys.path.insert(0, str(Path(workflow.basedir) / "src"))

from rarefuse.clock import redate
from rarefuse.codedigest import code_digest
from rarefuse.errors import InputError
from rarefuse.evaluation.catalogue import TABLES
from rarefuse.evaluation.configured import DELETION_CONDITIONS, PROTOCOLS
from rarefuse.fusion.catalogue import SCORED, component_of
from rarefuse.locks import hold_lock
from rarefuse.slices import as_json
from rarefuse.workflow import configured_run

try:
    RUN = configured_run(config, Path(workflow.basedir) / "workflow/schemas/config.schema.yaml")
except InputError as error:
    raise WorkflowError(str(error)) from None

os.environ.update(RUN.environment(Path(workflow.basedir)))

STARTED = time.time()
CONFIG, CORPUS, RESULTS, KNOWLEDGE = RUN.config, RUN.corpus, RUN.results, RUN.knowledge
RETRIEVAL = RUN.retrieval.folder


def grows(amount):
    """Memory (MB) or time (minutes) of a job, or a function of its wildcards: twice as much each
    time it is submitted again, which a profile's `retries` allows (docs/cluster.md)."""

    def requested(wildcards, attempt):
        first = amount(wildcards) if callable(amount) else amount
        return first * 2 ** (attempt - 1)

    return requested


wildcard_constraints:
    corpus="|".join(CONFIG["corpora"]),
    ranker=r"[A-Za-z0-9_-]+(\.(seed\d+|uncapped))?",
    arm=r"[A-Za-z0-9._-]+",
    component=r"[A-Za-z0-9_-]+(\.(seed\d+|uncapped))?(\.(top\d+|full))?",
    protocol="ordinary|lopo",
    holdout=r"[A-Za-z0-9-]+",
    suite="|".join(SCORED),
    method=r"[a-z-]+",
    table=r"\w+",
    target=r"[A-Za-z0-9_-][A-Za-z0-9._-]*",
    reranker=r"[A-Za-z0-9-]+",
    set="|".join(RUN.retrieval.sets) or "(?!)",
    seed=r"\d+",
    publication=r"PMID_\d+",


# Open, and so locked, until this process ends.
HELD = []


onstart:
    try:
        HELD.append(hold_lock(RESULTS))
    except InputError as error:
        raise WorkflowError(str(error)) from None
    if ahead := redate([RESULTS, CONFIG["sources"]["folder"]], time.time()):
        logger.warning(
            f"The clock was moved back: {ahead} files had dates to come and got today's."
        )
