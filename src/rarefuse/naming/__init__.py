"""Disease names as models write them → OMIM ids: lexicon, mapper, audit of what has no match."""
