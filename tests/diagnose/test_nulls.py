"""One case scored over its own ancestors, and by bounds on its p-values: the rankers' own bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rarefuse.diagnose.library import Closed, Library, close_counts, index_by_term
from rarefuse.diagnose.narrow import narrow
from rarefuse.diagnose.nulls import fill, kept_places, make_nulls, one_case, open_nulls
from rarefuse.diagnose.ranking import _columns_of
from rarefuse.rankers.base import lopo_columns
from rarefuse.rankers.likelihood import NaiveBayes
from rarefuse.rankers.order import top_lists
from rarefuse.rankers.phenomizer import Phenomizer
from rarefuse.rankers.semantic import Resnik
from worlds import make_knowledge, random_counted_worlds


def library_of(knowledge):
    none = np.zeros(len(knowledge.profile_terms) + 1, np.int64)
    return Library(
        knowledge, knowledge.disease_ids, none, none[:0].astype("i4"), index_by_term(knowledge), "x"
    )


def test_a_closed_profile_has_the_largest_frequency_at_or_below_each_term():
    # 0 above 1 above 2; 0 above 3. Annotated: 2 in 1 of 4, 1 in 0 of 9 (absent), 3 in 2 of 3.
    knowledge = make_knowledge([[], [0], [1], [0]], [{2: (1, 4), 1: (0, 9), 3: (2, 3)}])
    found = Closed(
        *close_counts(
            knowledge.profile_ptr,
            knowledge.profile_terms,
            knowledge.numerator,
            knowledge.denominator,
            knowledge.ontology.parent_ptr,
            knowledge.ontology.parents,
        )
    )
    assert found.terms.tolist() == [0, 1, 2, 3]
    counts = list(zip(found.numerator.tolist(), found.denominator.tolist(), strict=True))
    assert counts == [(2, 3), (1, 4), (1, 4), (2, 3)]


def test_an_absent_annotation_holds_its_ancestors_with_frequency_0():
    knowledge = make_knowledge([[], [0], [1]], [{2: (0, 5)}, {}])
    index = index_by_term(knowledge)
    assert index.ptr.tolist() == [0, 1, 2, 3]
    assert index.terms.tolist() == [0, 0, 0]
    assert index.numerator.tolist() == [0, 0, 0]


def test_kept_places_begin_one_by_one_and_end_with_all():
    assert kept_places(5).tolist() == [1, 2, 3, 4, 5]
    places = kept_places(1000)
    assert places[:64].tolist() == list(range(1, 65))
    assert places[64:67].tolist() == [72, 81, 91]
    assert places[-1] == 1000


@settings(deadline=None, max_examples=60)
@given(random_counted_worlds(), st.integers(0, 5))
def test_scores_over_the_ancestors_are_those_over_all_terms(world, which):
    library, queries = library_of(world.knowledge), world.queries
    i = which % len(queries)
    columns = lopo_columns(world.knowledge, queries, world.removed)
    own = queries.slice(i, i + 1)
    cut = narrow(library, own)
    touched = cut.columns(_columns_of(columns, i), world.knowledge.ontology)
    for ranker in (Resnik(), NaiveBayes(), NaiveBayes(excluded=True, floor=0.1)):
        whole = ranker.ordinary(world.knowledge, queries)
        part = ranker.ordinary(cut.knowledge, cut.queries(own))
        np.testing.assert_array_equal(part.score[0], whole.score[i])
        whole = ranker.lopo(world.knowledge, queries, columns, whole)
        part = ranker.lopo(cut.knowledge, cut.queries(own), touched, part)
        np.testing.assert_array_equal(part.score[0], whole.score[i])


@settings(deadline=None, max_examples=60)
@given(random_counted_worlds(), st.integers(0, 5), st.integers(1, 4), st.sampled_from([1, 90, 300]))
def test_the_first_places_are_those_of_the_ranker(world, which, depth, samples):
    knowledge, queries = world.knowledge, world.queries
    ranker = Phenomizer(samples=samples, max_query_size=min(3, len(world.parents)))
    library = library_of(knowledge)
    i = which % len(queries)
    columns = lopo_columns(knowledge, queries, world.removed)
    expected = ranker.lopo(knowledge, queries, columns, ranker.ordinary(knowledge, queries))
    own = queries.slice(i, i + 1)
    nulls = make_nulls(library, ranker)
    cut = narrow(library, own)
    scores = one_case(library, cut, own, _columns_of(columns, i), nulls, depth)
    for found, whole in zip(top_lists(scores, depth), top_lists(expected, depth), strict=True):
        np.testing.assert_array_equal(found[0], whole[i])
    np.testing.assert_array_equal(scores.score[0], expected.score[i])
    everyone = np.arange(len(knowledge.disease_ids), dtype=np.int32)
    fill(library, own, nulls, everyone, scores)
    np.testing.assert_array_equal(scores.p_value[0], expected.p_value[i])


def test_nulls_come_back_from_the_cache_and_a_damaged_file_is_made_again(tmp_path):
    library = library_of(make_knowledge([[], [0], [0]], [[1], [2]]))
    ranker = Phenomizer(samples=50, max_query_size=2)
    made = open_nulls(library, ranker, tmp_path)
    (path,) = tmp_path.iterdir()
    again = open_nulls(library, ranker, tmp_path)
    assert again.path == path
    for size in (1, 2):
        np.testing.assert_array_equal(again.table(size), made.table(size))
    path.write_bytes(path.read_bytes()[:100])
    np.testing.assert_array_equal(open_nulls(library, ranker, tmp_path).table(2), made.table(2))


@pytest.mark.parametrize("options", [{"seed": 2}, {"samples": 51}, {"max_query_size": 1}])
def test_another_ranker_has_another_null(tmp_path, options):
    library = library_of(make_knowledge([[], [0], [0]], [[1], [2]]))
    base = {"samples": 50, "max_query_size": 2, "seed": 1}
    open_nulls(library, Phenomizer(**base), tmp_path)
    open_nulls(library, Phenomizer(**base | options), tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
