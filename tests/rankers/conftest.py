import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def expected():
    root = Path(__file__).resolve().parents[2]
    data = Path(os.environ.get("RAREFUSE_DATA", root.parent / "shared" / "data"))
    folder = data.parent / "expected" / "phenomizer_reference"
    for needed in (data, folder):
        if not needed.is_dir():
            pytest.skip(f"no reference output at {needed}; set RAREFUSE_DATA")
    return data, folder
