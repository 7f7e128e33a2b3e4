"""Against the output of the Java Phenomizer (phenol 1.3.3), the README beside which says how."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from rarefuse.annotations.knowledge import Knowledge, information_content
from rarefuse.ontology import read_obo
from rarefuse.ontology.arrays import flatten
from rarefuse.ontology.bestmatch import best_match_table
from rarefuse.rankers.base import build_queries
from rarefuse.rankers.exact import exact_tails
from rarefuse.rankers.order import java_hash_order, top_lists
from rarefuse.rankers.phenomizer import Phenomizer
from rarefuse.rankers.reference import reference_p_value
from rarefuse.rankers.sampled import draw_queries
from rarefuse.rankers.semantic import Resnik

pytestmark = pytest.mark.realdata

SAMPLES = 100_000


@pytest.fixture(scope="module")
def table(expected):
    return lambda name: pl.read_csv(expected[1] / name, separator="\t")


@pytest.fixture(scope="module")
def world(expected, table):
    """Knowledge of the 8,553 profiles, and the 40 queries."""
    ontology = read_obo(expected[0] / "hpoa" / "hp_2026-01-08.obo.gz")
    listed = table("profiles.tsv.gz")
    profiles = [
        np.array(sorted(ontology.index[term] for term in terms.split(";")), np.int32)
        for terms in listed["terms"]
    ]
    n_diseases, ic = information_content(ontology, profiles)
    diseases = listed["disease"].to_list()
    rows = list(range(len(diseases)))
    ones = np.ones(sum(map(len, profiles)), np.int32)
    known = Knowledge(ontology, diseases, *flatten(profiles), rows, ic, ones, ones)
    asked = table("queries.tsv")
    queries = build_queries(
        known,
        asked["query_id"].to_list(),
        [terms.split(";") for terms in asked["terms"]],
        [None] * asked.height,
    )
    return SimpleNamespace(
        known=known,
        queries=queries,
        n_diseases=n_diseases,
        query_index={case: q for q, case in enumerate(queries.case_ids)},
        scores=Resnik().ordinary(known, queries),
    )


@pytest.fixture(scope="module")
def hash_order(world, table):
    first = table("scores_all.tsv.gz").filter(pl.col("query_id") == "q00")
    order = np.full(len(world.known.disease_ids), -1, np.int32)
    order[[world.known.disease_index[d] for d in first["disease"]]] = first["hashmap_order"]
    return order


def square(frame, value, query_index, disease_index):
    """One column of a long table as an array of queries × diseases."""
    result = np.full((len(query_index), len(disease_index)), np.nan)
    result[
        [query_index[q] for q in frame["query_id"]],
        [disease_index[d] for d in frame["disease"]],
    ] = frame[value]
    assert not np.isnan(result).any()
    return result


def test_information_content(world, table):
    listed = table("ic.tsv.gz")
    ontology = world.known.ontology
    assert listed["term"].sort().to_list() == sorted(ontology.term_ids)
    rows = [ontology.index[term] for term in listed["term"]]
    assert world.n_diseases[rows].tolist() == listed["n_diseases"].to_list()
    np.testing.assert_allclose(world.known.ic[rows], listed["ic"], rtol=1e-14, atol=0)


def test_all_scores(world, table):
    wanted = square(
        table("scores_all.tsv.gz"), "score", world.query_index, world.known.disease_index
    )
    difference = np.abs(world.scores.score - wanted)
    print(f"{wanted.size} scores, largest difference {difference.max()}")
    assert difference.max() < 1e-6
    # More than asked for: single-precision pairs summed in double precision are the same bits.
    assert (difference == 0).all()


def test_the_bucket_of_every_disease(world, hash_order):
    # The insertion order inside a bucket is not known here: it is taken from the order itself.
    assert sorted(hash_order.tolist()) == list(range(8_553))
    derived = java_hash_order(world.known.disease_ids, hash_order.tolist())
    assert derived.tolist() == hash_order.tolist()


def test_best_fifty_in_native_order(world, table, hash_order):
    listed = table("top50_by_score.tsv")
    world.scores.order = hash_order
    top, _, _ = top_lists(world.scores, 50)
    ours = [
        (case, place, world.known.disease_ids[d])
        for case, row in zip(world.queries.case_ids, top.tolist(), strict=True)
        for place, d in enumerate(row, start=1)
    ]
    assert ours == listed.select("query_id", "rank", "disease").rows()


def test_p_values_of_given_nulls(world, table):
    nulls = {
        key: (rows["score_key"].to_numpy(), rows["cum_rel_freq"].to_numpy())
        for key, rows in table("cdf_pa_pure.tsv.gz").group_by(
            "n_terms", "disease", maintain_order=True
        )
    }
    # 9,999 of a nominal 10,000, and always a key 0.
    assert {float(cumulative[-1]) for _, cumulative in nulls.values()} == {0.9999}
    assert {float(keys[0]) for keys, _ in nulls.values()} == {0.0}
    listed = table("pvalues_pa_pure.tsv.gz")
    ours = [
        reference_p_value(
            *nulls[size, disease],
            world.scores.score[world.query_index[query], world.known.disease_index[disease]],
        )
        for query, size, disease in listed.select("query_id", "n_null", "disease").iter_rows()
    ]
    difference = np.abs(np.array(ours) - listed["p_raw"].to_numpy())
    print(f"{len(ours)} p-values of given nulls, largest difference {difference.max()}")
    assert difference.max() < 1e-12


@pytest.mark.parametrize("name", ["pvalues_pa_pure.tsv.gz", "pvalues_full.tsv.gz"])
def test_native_ranks_of_the_subsets(world, table, hash_order, name):
    # Their maps had other capacities: 64 for 40 diseases, 512 for 200.
    listed = table(name)
    diseases = listed["disease"].unique().sort().to_list()
    index = {d: i for i, d in enumerate(diseases)}
    insertion = [int(hash_order[world.known.disease_index[d]]) for d in diseases]
    tables = [square(listed, c, world.query_index, index) for c in ("score", "p_raw")]
    scores = SimpleNamespace(
        score=tables[0], p_value=tables[1], order=java_hash_order(diseases, insertion)
    )
    top, _, _ = top_lists(scores, len(diseases))
    ranks = square(listed, "native_rank_in_subset", world.query_index, index)
    assert np.take_along_axis(ranks, top, axis=1).tolist() == [
        list(range(1, len(diseases) + 1))
    ] * len(top)


@pytest.fixture(scope="module")
def subset(world, table):
    """The 200 diseases with native p-values, and those."""
    listed = table("pvalues_full.tsv.gz")
    known = world.known
    diseases = listed["disease"].unique().sort().to_list()
    profiles = [known.profile(known.disease_index[d]) for d in diseases]
    rows = list(range(len(diseases)))
    ones = np.ones(sum(map(len, profiles)), np.int32)
    part = Knowledge(known.ontology, diseases, *flatten(profiles), rows, known.ic, ones, ones)
    matches = best_match_table(
        part.profile_ptr,
        part.profile_terms,
        known.ic.astype(np.float32),
        known.ontology.parent_ptr,
        known.ontology.parents,
    )
    wanted = square(listed, "p_raw", world.query_index, part.disease_index)
    return SimpleNamespace(known=part, matches=matches, wanted=wanted)


def z_values(name, ours, wanted, among=True):
    """Differences in units of both sides' Monte Carlo error, where 20 counts are expected."""
    pooled = (ours + wanted) / 2
    error = np.sqrt(2 * pooled * (1 - pooled) / SAMPLES)
    counts = np.minimum(pooled, 1 - pooled) * SAMPLES
    z = ((ours - wanted) / np.where(counts >= 20, error, np.inf))[(counts >= 20) & among]
    print(
        f"{name}: {len(z)} p-values, z mean {z.mean():+.3f}, sd {z.std():.3f}, "
        f"extremes {z.min():+.2f} and {z.max():+.2f}, beyond 3: {np.mean(np.abs(z) > 3):.2%}"
    )
    return z


def check_small(ours, wanted):
    """Fewer than 20 expected counts: Poisson, and zeros at the same places or nearly."""
    small = (ours + wanted) / 2 * SAMPLES < 20
    assert small.sum() > 50
    difference = (ours - wanted)[small] * SAMPLES
    error = np.sqrt(np.maximum((ours + wanted)[small] * SAMPLES, 1))
    assert np.abs(difference / error).max() < 4


def test_own_reference_null_within_binomial_error(world, subset):
    scores = Phenomizer("reference", samples=SAMPLES).ordinary(subset.known, world.queries)
    assert ((scores.p_value == 1) == (subset.wanted == 1)).all()
    z = z_values("reference null", scores.p_value, subset.wanted)
    assert len(z) > 6_000
    # Four queries share a null, so that 6,000 values are worth some 1,500: error of the mean 0.026.
    assert abs(z.mean()) < 0.1
    assert 0.93 < z.std() < 1.07
    assert np.abs(z).max() < 5
    assert np.mean(np.abs(z) > 3) < 0.006  # 0.0027 under a normal distribution
    check_small(scores.p_value, subset.wanted)


def test_shared_draws_by_the_references_rule_within_binomial_error(world, subset):
    """Our draws, rounded and interpolated as the reference does: every p-value compares."""
    sizes = world.queries.sizes
    draws = draw_queries(len(subset.known.ic), SAMPLES, 10, seed=1)
    scores = Resnik().ordinary(subset.known, world.queries).score
    ours = np.empty_like(subset.wanted)
    for d, column in enumerate(subset.matches.astype(np.float64)):
        sums = np.cumsum(column[draws], axis=1)
        for size in range(1, 11):
            counts = np.bincount((sums[:, size - 1] / size * 1000 + 0.5).astype(np.int64))
            keys = np.flatnonzero((counts > 0) | (np.arange(len(counts)) == 0))
            below = np.cumsum(counts)[keys] / SAMPLES
            for q in np.flatnonzero(np.minimum(sizes, 10) == size):
                ours[q, d] = reference_p_value(keys / 1000, below, scores[q, d])
    z = z_values("shared draws, reference rule", ours, subset.wanted)
    assert len(z) > 6_000
    # Diseases share the draws, so that their errors go together: ten independent sets at most.
    assert abs(z.mean()) < 0.3
    assert 0.85 < z.std() < 1.15
    assert np.abs(z).max() < 5
    check_small(ours, subset.wanted)


def test_sampled_null_within_binomial_error_where_ties_do_not_matter(world, subset):
    """P(≥ S) and the reference's interpolated P(> key below S) differ by the mass at S.

    That is far more than Monte Carlo error for most pairs (many random queries score exactly S),
    so only those compare whose exact null has next to no mass within two keys of S, and whose
    next key above takes next to nothing by interpolation.
    """
    counted = Phenomizer("sampled", samples=SAMPLES).ordinary(subset.known, world.queries)
    ours = (counted.p_value * (1 + SAMPLES) - 1) / SAMPLES
    value = np.floor(subset.matches.astype(np.float64) * 1000 + 0.5).astype(np.int64)
    n_values = int(value.max()) + 1
    tails = np.zeros((11, 10 * (n_values - 1) + 2))
    mass = np.empty_like(ours)
    queries = world.queries
    for d in range(ours.shape[1]):
        exact_tails(np.bincount(value[d], minlength=n_values), 10, tails)
        for q in range(len(queries)):
            own = queries.observed[queries.observed_ptr[q] : queries.observed_ptr[q + 1]]
            size = min(10, len(own))
            at = value[d, own].sum() * size / len(own)
            low = max(0, int(np.floor(at)) - 2 * size)
            high = min(tails.shape[1] - 1, int(np.ceil(at)) + 2 * size + 1)
            tail = tails[size]
            above = high + np.flatnonzero(tail[high:-1] > tail[high + 1 :])[:1]
            taken = (tail[above] - tail[above + 1]) * np.minimum(1, (above - at) / size / 2000)
            mass[q, d] = max(tail[low] - tail[high], *taken, 0.0)
    error = np.sqrt(2 * subset.wanted * (1 - subset.wanted) / SAMPLES)
    among = mass < 0.3 * error
    z = z_values("sampled null", ours, subset.wanted, among)
    assert len(z) > 300
    assert abs(z.mean()) < 0.3
    assert 0.8 < z.std() < 1.25
    assert np.abs(z).max() < 4.5
