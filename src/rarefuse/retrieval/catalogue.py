"""The tables of the retrieval part, by name. Light: imports none of them.

Each needs some artifacts of a set: ``lists`` of all seeds, the trained ``tables`` of the first
seed, or the ``data`` alone.
"""

TABLES = {
    "main": ("rarefuse.retrieval.tables", "main_table", "lists"),
    "retention": ("rarefuse.retrieval.tables", "retention_table", "lists"),
    "depth": ("rarefuse.retrieval.tables", "depth_table", "lists"),
    "indexability": ("rarefuse.retrieval.studies", "indexability_table", "data"),
    "front": ("rarefuse.retrieval.studies", "front_table", "data"),
    "efficiency": ("rarefuse.retrieval.studies", "efficiency_table", "tables"),
    "growth": ("rarefuse.retrieval.studies", "growth_table", "nothing"),
    "theory": ("rarefuse.retrieval.studies", "theory_table", "nothing"),
    "pooling": ("rarefuse.retrieval.studies", "pooling_table", "data"),
    "adapters": ("rarefuse.retrieval.studies", "adapters_table", "data"),
    "gates": ("rarefuse.retrieval.studies", "gates_table", "data"),
    "noise": ("rarefuse.retrieval.studies", "noise_table", "data"),
    "encoders": ("rarefuse.retrieval.studies", "encoders_table", "data"),
}
"""Table → module, function, and what it reads."""
