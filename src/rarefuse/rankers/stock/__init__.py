"""Stock programs (LIRICAL, the Java Phenomizer) run as rankers of the same artifacts."""
