from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rarefuse.corpus import terms
from rarefuse.corpus.terms import normalise_terms


def one(observed, excluded, resolver):
    kept, absent, skipped = normalise_terms("r", observed, excluded, resolver)
    assert all(skip.record == "r" for skip in skipped)
    return kept, absent, [(skip.level, skip.reason, skip.detail) for skip in skipped]


def test_current_terms_stay_in_the_records_order(resolver):
    assert one(["HP:0000003", "HP:0000001"], ["HP:0000002"], resolver) == (
        ["HP:0000003", "HP:0000001"],
        ["HP:0000002"],
        [],
    )


def test_alternative_and_replaced_ids_become_current_and_are_counted(resolver):
    assert one(["HP:0000101"], ["HP:0000102"], resolver) == (
        ["HP:0000001"],
        ["HP:0000002"],
        [
            ("mapped", terms.FROM_ALTERNATIVE, "observed HP:0000101 to HP:0000001"),
            ("mapped", terms.FROM_OBSOLETE, "excluded HP:0000102 to HP:0000002"),
        ],
    )


def test_terms_that_cannot_be_scored_are_left_out_on_both_sides_with_the_reason(resolver):
    bad = ["HP:0000103", "HP:9999999", "HP:0003577", "HP:12", "HP_0000001", 7, None]
    reasons = [terms.OBSOLETE, terms.UNKNOWN, terms.OUTSIDE, *[terms.MALFORMED] * 4]
    kept, absent, skipped = one(["HP:0000001", *bad], [*bad, "HP:0000002"], resolver)
    assert (kept, absent) == (["HP:0000001"], ["HP:0000002"])
    assert [reason for _, reason, _ in skipped] == reasons * 2
    assert {level for level, _, _ in skipped} == {"term"}
    assert skipped[0][2] == "observed HP:0000103"
    assert skipped[7][2] == "excluded HP:0000103"


def test_a_mapped_term_outside_is_both_mapped_and_left_out(resolver):
    kept, _, skipped = one(["HP:0000104"], [], resolver)
    assert kept == []
    assert [(level, reason) for level, reason, _ in skipped] == [
        ("mapped", terms.FROM_ALTERNATIVE),
        ("term", terms.OUTSIDE),
    ]


def test_a_second_occurrence_is_counted_also_when_it_comes_by_mapping(resolver):
    kept, _, skipped = one(["HP:0000001", "HP:0000101", "HP:0000001"], [], resolver)
    assert kept == ["HP:0000001"]
    assert skipped.count(("term", terms.DUPLICATE, "observed HP:0000001")) == 2


def test_a_term_both_observed_and_excluded_leaves_both_and_counts_once(resolver):
    kept, absent, skipped = one(
        ["HP:0000001", "HP:0000003"], ["HP:0000101", "HP:0000004"], resolver
    )
    assert (kept, absent) == (["HP:0000003"], ["HP:0000004"])
    assert skipped.count(("term", terms.BOTH, "HP:0000001")) == 1


IDS = st.lists(
    st.sampled_from(
        [f"HP:{i:07d}" for i in (1, 2, 3, 101, 102, 103, 104, 3577, 9999)] + ["", "HP:1"]
    ),
    max_size=8,
)


@given(observed=IDS, excluded=IDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_term_is_kept_or_counted(resolver, observed, excluded):
    kept, absent, skipped = normalise_terms("r", observed, excluded, resolver)
    assert len(set(kept + absent)) == len(kept) + len(absent)
    both = sum(skip.reason == terms.BOTH for skip in skipped)
    left_out = sum(skip.level == "term" for skip in skipped)
    # A contradiction is one row for two terms.
    assert len(kept) + len(absent) + left_out + both == len(observed) + len(excluded)
