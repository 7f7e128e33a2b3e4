"""Readers of case corpora → one case table; closed view, audit and splits."""
