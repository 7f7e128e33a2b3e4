"""The report page, its figures, and the summary for the terminal."""
