import faiss
import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Threads of the tiny models here would cost more than they save."""
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
