"""Honest evaluation and fusion of phenotype rankers and LLMs for rare-disease diagnosis."""

__version__ = "0.1.0"
