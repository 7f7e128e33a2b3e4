import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data():
    folder = Path(os.environ.get("RAREFUSE_DATA", "../shared/data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}")
    return folder
