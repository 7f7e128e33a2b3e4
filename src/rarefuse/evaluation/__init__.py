"""Metrics, tie policies, clustered bootstrap and the result tables."""
