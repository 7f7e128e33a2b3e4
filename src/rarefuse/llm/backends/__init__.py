"""Back ends: what brings a prompt to a model and its answer back, behind one interface."""
