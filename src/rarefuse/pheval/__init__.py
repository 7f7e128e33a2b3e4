"""PhEval's disease results: ours written for it, those of other tools read from it."""
