"""Evidence and features of candidate lists, the gate, its controls, and rank-fusion baselines."""
