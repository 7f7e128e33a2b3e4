"""Paired percentile bootstrap that resamples whole clusters (publications).

Every system is averaged over the same resamples, so the interval of a difference is that of the
paired difference. A resample draws as many clusters as there are, with replacement, and averages
over the cases of the drawn clusters. Drawing is a matrix of counts, and all systems' resampled
means are one matrix product: O(resamples × clusters × systems).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rarefuse import seeds


@dataclass(frozen=True)
class Estimate:
    """A mean with its percentile interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ClusterBootstrap:
    """Resamples of the clusters of N cases.

    Parameters
    ----------
    cluster : ndarray of int64, shape (N,)
        Cluster of each case, 0 … C - 1.
    weights : ndarray of float32, shape (B, C)
        How often each resample drew each cluster.
    level : float
        Coverage of the interval, such as 0.95.
    """

    cluster: NDArray[np.int64]
    weights: NDArray[np.float32]
    level: float

    def resampled_means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means of every resample.

        Parameters
        ----------
        values : ndarray of float64, shape (M, N)
            M systems (or metrics) on N cases.

        Returns
        -------
        ndarray of float64, shape (M, B)
        """
        n_clusters = self.weights.shape[1]
        sums = np.stack([np.bincount(self.cluster, row, n_clusters) for row in values])
        sizes = np.bincount(self.cluster, minlength=n_clusters)
        weights = self.weights.astype(np.float64)
        return (sums @ weights.T) / (weights @ sizes)

    def estimates(self, values: NDArray[np.float64]) -> list[Estimate]:
        """Mean and interval of each of M rows of `values`, shape (M, N)."""
        tail = (1.0 - self.level) / 2.0
        low, high = np.quantile(self.resampled_means(values), [tail, 1.0 - tail], axis=1)
        return [
            Estimate(float(v), float(a), float(b))
            for v, a, b in zip(values.mean(axis=1), low, high, strict=True)
        ]


def cluster_bootstrap(
    clusters: Sequence[str], *, resamples: int, level: float, seed: int, name: str
) -> ClusterBootstrap:
    """Draw the resamples of a set of cases.

    Parameters
    ----------
    clusters : sequence of str
        Cluster label of each case.
    resamples : int
        Number of resamples.
    level : float
        Coverage.
    seed : int
        The run's seed.
    name : str
        What is resampled, such as the subset; sets with the same name, size and order of
        clusters share their resamples, so that tables made apart stay paired.
    """
    _, index = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    n_clusters = int(index.max()) + 1
    random = seeds.generator(seed, "bootstrap", name)
    weights = random.multinomial(n_clusters, np.full(n_clusters, 1.0 / n_clusters), resamples)
    return ClusterBootstrap(index.astype(np.int64), weights.astype(np.float32), level)
