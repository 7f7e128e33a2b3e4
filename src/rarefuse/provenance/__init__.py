"""The controls of the paper's provenance analysis, one table each."""
