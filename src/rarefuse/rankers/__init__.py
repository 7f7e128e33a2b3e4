"""Ontology rankers behind one interface; null distributions; full and partial orders."""
