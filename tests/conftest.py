"""Fixtures that several folders use: the tiny corpus's ontology and annotations."""

from pathlib import Path

import pytest

from rarefuse.annotations.hpoa import read_hpoa
from rarefuse.annotations.relations import build_relations
from rarefuse.ontology import read_obo

TINY = Path(__file__).parent / "data" / "tiny"


@pytest.fixture(scope="session")
def tiny():
    return TINY


@pytest.fixture(scope="session")
def tiny_ontology():
    return read_obo(TINY / "tiny.obo")


@pytest.fixture(scope="session")
def tiny_relations(tiny_ontology):
    return build_relations(read_hpoa(TINY / "tiny.hpoa"), tiny_ontology)
