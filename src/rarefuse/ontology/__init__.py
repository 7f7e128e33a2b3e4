"""OBO → compact arrays; closure, depth, information content, best-match table."""

from rarefuse.ontology.arrays import Ontology, Resolution, from_frames, read_ontology, to_frames
from rarefuse.ontology.obo import read_obo

__all__ = ["Ontology", "Resolution", "from_frames", "read_obo", "read_ontology", "to_frames"]
