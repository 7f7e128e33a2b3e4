"""Small unions, features and rows for the tests of fusion."""

import numpy as np
import pytest
from hypothesis import strategies as st

from rarefuse.fusion.features import FEATURES, Features
from rarefuse.fusion.lists import Lists, make_union


def lists_of(*lists, depth, scores=None):
    """Lists of vocabulary rows; scores 1/rank unless given."""
    disease = np.full((len(lists), depth), -1, np.int32)
    score = np.zeros((len(lists), depth))
    for i, own in enumerate(lists):
        disease[i, : len(own)] = own
        score[i, : len(own)] = 1.0 / np.arange(1, len(own) + 1) if scores is None else scores[i]
    return Lists(disease, score)


@pytest.fixture(scope="session")
def lists():
    return lists_of


@pytest.fixture(scope="session")
def union_of():
    """Union of one ontology list and one LLM list a case."""

    def make(ontology, llm, kappa=0.0):
        depth = max(map(len, ontology)), max(1, *map(len, llm))
        return make_union(
            lists_of(*ontology, depth=depth[0]), lists_of(*llm, depth=depth[1]), kappa
        )

    return make


@st.composite
def random_pairs(draw, diseases=8, least=0):
    """An ontology list and an LLM list over a few diseases."""
    disease = st.integers(0, diseases - 1)
    return tuple(
        draw(st.lists(disease, min_size=least, max_size=size, unique=True)) for size in (6, 4)
    )


@pytest.fixture(scope="session")
def pairs():
    return random_pairs


@pytest.fixture(scope="session")
def random_features():
    """N cases of random vectors whose shared features agree."""

    def make(n, seed=0):
        random = np.random.default_rng(seed)
        ontology, llm = random.normal(size=(2, n, len(FEATURES)))
        shared = [feature.index - 1 for feature in FEATURES if feature.shared]
        llm[:, shared] = ontology[:, shared]
        return Features(ontology, llm)

    return make
