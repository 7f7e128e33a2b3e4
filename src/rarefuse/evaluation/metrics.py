"""Recall at k and reciprocal rank of a gold disease under a tie policy.

A ranker that gives a block of candidates the same score has not said which comes first. Three
policies for the gold disease's place in its block ``tie_first … tie_last``:

``native``    the place the ranker's stable order gives it;
``averaged``  the expectation over all orders of the block (McSherry and Najork 2008): for
              recall at k the share of the block's places that are at most k, for the reciprocal
              rank the mean of 1/place;
``worst``     the last place of the block.

A gold disease that is no candidate has no place and counts as a miss under every policy.
"""

import numpy as np
from numpy.typing import NDArray

from rarefuse.errors import InputError

NATIVE, AVERAGED, WORST = TIE_POLICIES = ("native", "averaged", "worst")


def recall_at(
    k: int, rank: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64], policy: str
) -> NDArray[np.float64]:
    """Recall at k of each case, in 0..1.

    Parameters
    ----------
    k : int
        Cut-off.
    rank, first, last : ndarray of int64, shape (N,)
        Native place, first and last place of the tie block; 0 where there is none.
    policy : str
        One of `TIE_POLICIES`.
    """
    found = rank > 0
    if policy == NATIVE:
        return (found & (rank <= k)).astype(float)
    if policy == WORST:
        return (found & (last <= k)).astype(float)
    if policy == AVERAGED:
        within = np.clip(k - first + 1, 0, last - first + 1)
        return np.where(found, within / np.maximum(last - first + 1, 1), 0.0)
    raise _unknown(policy)


def reciprocal_rank(
    rank: NDArray[np.int64], first: NDArray[np.int64], last: NDArray[np.int64], policy: str
) -> NDArray[np.float64]:
    """Reciprocal rank of each case over the full order; arguments as in `recall_at`."""
    found = rank > 0
    if policy == AVERAGED:
        # Mean of 1/first … 1/last through harmonic numbers.
        harmonic = np.concatenate(
            [[0.0], np.cumsum(1.0 / np.arange(1, max(int(last.max(initial=0)), 1) + 1))]
        )
        block = harmonic[last] - harmonic[np.maximum(first - 1, 0)]
        return np.where(found, block / np.maximum(last - first + 1, 1), 0.0)
    if policy not in TIE_POLICIES:
        raise _unknown(policy)
    place = rank if policy == NATIVE else last
    return np.where(found, 1.0 / np.maximum(place, 1), 0.0)


def _unknown(policy: str) -> InputError:
    return InputError(
        "unknown tie policy", found=policy, expected=f"one of {', '.join(TIE_POLICIES)}"
    )
