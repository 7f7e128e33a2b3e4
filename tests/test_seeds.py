import itertools

import numpy as np

from rarefuse.seeds import generator


def first(seed, *names):
    return generator(seed, *names).bit_generator.random_raw(4).tolist()


def test_the_same_names_give_the_same_stream_whenever_they_are_asked_for():
    alone = first(1, "phenomizer", 3)
    busy = generator(1, "bootstrap")
    busy.random(100)
    assert first(1, "phenomizer", 3) == alone
    generator(1, "phenomizer", 3).random(10)
    assert first(1, "phenomizer", 3) == alone


def test_names_and_seeds_give_different_streams():
    asked = [
        (1,),
        (1, "a"),
        (1, "b"),
        (1, "a", "b"),
        (1, "b", "a"),
        (1, "ab"),
        (1, "a", 1),
        (1, "a", 2),
        (1, "a1"),
        (2, "a"),
        (2, "a", 1),
    ]
    streams = [first(*each) for each in asked]
    for (left, one), (right, other) in itertools.combinations(zip(asked, streams, strict=True), 2):
        assert not set(one) & set(other), (left, right)


def test_streams_of_neighbouring_names_are_not_correlated():
    # Correlation of 10,000 pairs of independent numbers: standard error 0.01.
    table = np.array([generator(7, "null draws", j).random(10_000) for j in range(5)])
    off = np.corrcoef(table)[np.triu_indices(5, 1)]
    assert np.abs(off).max() < 0.05
    assert np.abs(table.mean(axis=1) - 0.5).max() < 0.015  # 5 standard errors


def test_the_stream_is_the_one_of_earlier_versions():
    # Written down once: a change here changes every published number.
    assert first(1, "null draws", 0)[:2] == [17069349151711733994, 11163733142803190517]
