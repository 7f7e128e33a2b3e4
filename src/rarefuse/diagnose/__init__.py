"""One patient, or a folder of them: ranked candidates with the evidence behind each."""
