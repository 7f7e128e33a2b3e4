"""HPOA reader, relations, LOPO and publication-source overlap."""
