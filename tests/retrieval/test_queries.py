import numpy as np
import polars as pl
import pytest

from rarefuse.errors import InputError
from rarefuse.retrieval import queries as q
from rarefuse.retrieval.measures import measure
from rarefuse.retrieval.subsets import REFERENCE, make_subset
from rarefuse.retrieval.templates import FAMILIES, HELD_OUT, TRAINING
from rarefuse.retrieval.templates import REFERENCE as WORDS
from rarefuse.retrieval.terms import Term, Vocabulary


def vocabulary(n=40):
    """A root, four groups, term i in group i mod 4 with a synonym, every third with two."""
    terms = {"X:00": Term("X:00", "everything", "", (), ())}
    for g in range(4):
        terms[f"X:g{g}"] = Term(f"X:g{g}", f"group {g}", "a group", ("gg",), ("X:00",))
    for i in range(n):
        synonyms = (f"other {i}", "ab") + ((f"third {i}",) if i % 3 == 0 else ())
        name = f"X:{i + 10}"
        terms[name] = Term(name, f"finding {i}", f"definition {i}", synonyms, (f"X:g{i % 4}",))
    return Vocabulary(dict(sorted(terms.items())))


@pytest.fixture(scope="module")
def subset():
    return make_subset(vocabulary(), REFERENCE, None, 0)


@pytest.fixture(scope="module")
def frame(subset):
    return q.make_queries(subset, 0)


def test_parts(subset):
    parts = q.split_nodes(subset.nodes.height, 0)
    assert [len(parts[p]) for p in q.PARTS] == [36, 4, 5]
    assert sorted(row for rows in parts.values() for row in rows) == list(range(45))


def test_q_e_takes_two_strings_of_three_characters(subset, frame):
    own = frame.filter(pl.col("family") == "Q-E", pl.col("condition") == "reference")
    assert own.group_by("node").len()["len"].max() == 2
    assert not own["text"].is_in(["ab", "gg"]).any()
    assert (own["relevant"].list.first() == own["node"]).all()
    assert (own["relevant"].list.len() == 1).all()


def test_q_h_finds_parents_and_q_m_siblings(subset, frame):
    for row in frame.filter(pl.col("condition") == "reference").iter_rows(named=True):
        node = row["node"]
        if row["family"] == "Q-H":
            assert row["relevant"] == subset.parents[node]
            assert set(row["ancestors"]) == subset.ancestors[node]
            assert row["text"] in [w.format(subset.nodes["label"][node]) for w in WORDS["Q-H"]]
        if row["family"] == "Q-M":
            assert set(row["relevant"]) <= subset.siblings(node)
            assert node not in row["relevant"]
    roots = {r for r in range(45) if not subset.parents[r]}
    assert not roots & set(frame.filter(pl.col("family") == "Q-H")["node"])


def test_a_family_has_at_most_twenty_siblings(subset):
    big = make_subset(vocabulary(120), REFERENCE, None, 0)
    asked = q.make_queries(big, 0).filter(pl.col("family") == "Q-M")
    assert asked["relevant"].list.len().max() == 20


def test_conditions_are_about_the_same_test_nodes(frame):
    test = frame.filter(pl.col("split") == "test")
    nodes = {
        c: set(test.filter(pl.col("condition") == c)["node"])
        for c in ("reference", "held-out", "typo")
    }
    assert nodes["reference"] == nodes["held-out"] == nodes["typo"]
    assert not frame.filter(pl.col("split") != "test", pl.col("condition") != "reference").height


def test_synonym_queries_are_no_labels(subset, frame):
    own = frame.filter(pl.col("condition") == "synonym")
    labels = set(subset.nodes["label"])
    assert own.height
    assert not any(text in labels for text in own["text"])


def test_a_string_of_two_nodes_is_right_for_both():
    terms = vocabulary().terms
    terms["X:98"] = Term("X:98", "twin", "", ("shared",), ("X:00",))
    terms["X:99"] = Term("X:99", "twin two", "", ("Shared",), ("X:00",))
    both = make_subset(Vocabulary(dict(sorted(terms.items()))), REFERENCE, None, 0)
    row = {t: i for i, t in enumerate(both.nodes["term_id"])}
    asked = q.Query("reference", "test", "Q-E", "shared", "shared", row["X:98"], [row["X:98"]], [])
    (found,) = q.synonym_only([asked], both)
    assert found.relevant == sorted([row["X:98"], row["X:99"]])


def test_same_seed_same_queries(subset, frame):
    assert q.make_queries(subset, 0).equals(frame)
    assert not q.make_queries(subset, 1).equals(frame)


def test_held_out_templates_are_not_trained_on():
    for family in FAMILIES:
        assert not set(HELD_OUT[family]) & set(TRAINING[family])
        assert set(WORDS[family]) <= set(TRAINING[family])


def test_misspelling_edits_letters_only():
    draw = np.random.default_rng(0)
    text = "Abnormal (x-1) eye"
    for _ in range(200):
        edited = q.misspell(text, 1, draw)
        assert abs(len(edited) - len(text)) <= 1
        assert [c for c in edited if not c.isalpha()] == [c for c in text if not c.isalpha()]
    assert q.misspell("123", 3, draw) == "123"


def test_too_small():
    with pytest.raises(InputError, match="too small to be split"):
        q.make_queries(make_subset(vocabulary(0), REFERENCE, None, 0), 0)


def test_measures_by_hand():
    asked = pl.DataFrame(
        [
            ("a", "reference", "test", "Q-H", "", "", 0, [3], [3, 4, 5]),
            ("b", "reference", "test", "Q-E", "", "", 1, [7, 8], []),
        ],
        schema=q.QUERIES.dtypes,
        orient="row",
    )
    lists = pl.DataFrame({"query_id": ["a", "b"], "rows": [[9, 3, 4, 8], [1, 2, 3, 4, 5, 8]]})
    h, e = measure(lists, asked).iter_rows(named=True)
    assert (h["hits@1"], h["hits@5"], h["mrr"]) == (0.0, 1.0, 0.5)
    assert h["ancestor_f1"] == pytest.approx(2 * 2 / (4 + 3))
    assert h["ndcg@10"] == pytest.approx(1 / np.log2(3))
    assert (e["hits@5"], e["hits@10"], e["mrr"]) == (0.0, 1.0, pytest.approx(1 / 6))
    assert e["ndcg@10"] == pytest.approx((1 / np.log2(7)) / (1 + 1 / np.log2(3)))
    assert e["ancestor_f1"] is None
