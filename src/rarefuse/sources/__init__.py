"""Pinned sources: the registry that names them, and how each one is fetched and verified."""
