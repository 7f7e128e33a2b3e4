"""One seeded generator a stage, derived by name and never by order of calls."""

import hashlib

import numpy as np


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """Random generator of a stage.

    Parameters
    ----------
    seed : int
        The run's seed, from the config.
    *names : str or int
        What the numbers are for, such as ``"phenomizer", "draws"``. Two stages with different
        names get independent streams; adding a stage changes no other stage's stream.

    Returns
    -------
    numpy.random.Generator
        PCG64, seeded from `seed` and a SHA-256 digest of `names`.
    """
    digest = hashlib.sha256("\x1f".join(map(str, names)).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *words])))
