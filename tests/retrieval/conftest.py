import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data():
    root = Path(__file__).resolve().parents[2]
    folder = Path(os.environ.get("RAREFUSE_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set RAREFUSE_DATA")
    return folder
