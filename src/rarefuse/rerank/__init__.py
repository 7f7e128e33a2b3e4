"""The evidence reranker: one additive scorer a candidate, whose contributions have names."""
