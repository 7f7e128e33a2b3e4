"""Retrieval of ontology terms through a hyperbolic index that serves as an inner-product index."""
