"""The tiny corpus as artifacts, and stock programs that are stand-ins compiled in the test."""

import pytest

from rarefuse.rankers.stock.lirical import LiricalStock
from rarefuse.rankers.stock.process import file_digest
from rarefuse.rankers.stock.run import read_world


@pytest.fixture(scope="session")
def tiny_world(artifacts_of_tiny):
    """World of the 14 rankable cases, and their diagnoses."""
    return read_world(**vars(artifacts_of_tiny))


@pytest.fixture
def lirical(lirical_jar, tmp_path):
    """Make a program whose data folder says how cases with some term fare."""

    def make(*behaviour, **options):
        data = tmp_path / "Daten für alle"
        data.mkdir(exist_ok=True)
        lines = [f"log {tmp_path / 'finished Fälle.log'}", *behaviour]
        (data / "behaviour.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (data / "phenotype.hpoa").write_text("never to be read\n")
        return LiricalStock(
            **{
                "jar": str(lirical_jar),
                "sha256": file_digest(lirical_jar),
                "data": str(data),
                "java_options": ("-XX:TieredStopAtLevel=1",),  # starts sooner
                "time_limit": 30.0,
                **options,
            }
        )

    return make


@pytest.fixture
def finished(tmp_path):
    """Case ids that the stand-in has finished, in order."""

    def read():
        log = tmp_path / "finished Fälle.log"
        return log.read_text(encoding="utf-8").split() if log.exists() else []

    return read
