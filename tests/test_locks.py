"""One run at a time writes into a results folder, and none beside jobs of a killed one."""

import fcntl

import pytest

from rarefuse.errors import InputError
from rarefuse.locks import hold_lock, jobs_lock, running


@pytest.fixture
def results(tmp_path):
    return str(tmp_path / "results")


def test_one_run_at_a_time(results):
    lock = hold_lock(results)
    with pytest.raises(InputError, match="another run is writing"):
        hold_lock(results)
    lock.close()
    hold_lock(results).close()


def test_jobs_of_a_killed_run(results):
    hold_lock(results).close()
    with open(jobs_lock(results), "a") as orphan:
        fcntl.flock(orphan, fcntl.LOCK_SH)
        with pytest.raises(InputError, match="jobs of a killed run"):
            hold_lock(results)
    hold_lock(results).close()


def test_a_job_that_runs_is_noticed_until_it_ends(results):
    hold_lock(results).close()
    jobs = jobs_lock(results)
    refused = pytest.raises(InputError, match="jobs of a killed run")
    with running(jobs), running(jobs), refused:  # one job does not wait for another
        hold_lock(results)
    hold_lock(results).close()


def test_results_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        hold_lock(str(tmp_path / "file" / "results"))
