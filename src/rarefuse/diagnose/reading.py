"""The patients of a request: phenopackets, lists of terms, and free texts through the index."""

from functools import cached_property
from pathlib import Path

from rarefuse.diagnose.case import (
    NOTE,
    Patient,
    patient_of_findings,
    patient_of_terms,
    read_note,
    read_patient,
)
from rarefuse.diagnose.clinic import Clinic, Request
from rarefuse.retrieval.notes import DEFAULT_INDEX, NoteReader


class PatientReader:
    """Reads patients; the index is loaded when the first free text comes.

    Parameters
    ----------
    request : Request
        What the command line asks for.
    clinic : Clinic
        Ontology and configuration.
    """

    def __init__(self, request: Request, clinic: Clinic) -> None:
        self.request, self.clinic = request, clinic
        self.ontology = clinic.library.knowledge.ontology

    def of_request(self) -> Patient:
        """The request's single patient.

        Raises
        ------
        InputError
            As of `read_patient`, `read_note` and the index.
        """
        if self.request.text is not None:
            return self._of_text(self.request.text, "free text", "free text")
        if self.request.case is not None:
            return self.of_file(self.request.case)
        return patient_of_terms(self.request.observed, self.request.excluded, self.ontology)

    def of_file(self, path: Path) -> Patient:
        """Patient of a file: a free text by its suffix, else a phenopacket."""
        if path.suffix.lower() == NOTE:
            return self._of_text(read_note(path), str(path), path.stem)
        return read_patient(path, self.ontology)

    def _of_text(self, text: str, source: str, name: str) -> Patient:
        return patient_of_findings(self._notes.read(text), source, self.ontology, name)

    @cached_property
    def _notes(self) -> NoteReader:
        from rarefuse.retrieval.ground import read_grounder

        encoder = self.clinic.run.config["retrieval"]["encoder"]
        grounder = read_grounder(self.request.index or DEFAULT_INDEX, encoder)
        return NoteReader(grounder, self._is_finding, self.request.least_similarity)

    def _is_finding(self, term: str) -> bool:
        current = self.ontology.resolve(term).term_id
        return current is not None and self.ontology.is_phenotypic(current)
