"""A lexicon of a few real diseases, small enough to be read."""

import os
from pathlib import Path

import polars as pl
import pytest

from rarefuse.naming.lexicon import build_lexicon
from rarefuse.naming.sources import DiseaseClass

CANDIDATES = {
    "OMIM:609260": "Charcot-Marie-Tooth disease, axonal, type 2A2A",
    "OMIM:118210": "Charcot-Marie-Tooth disease, axonal, type 2A1",
    "OMIM:600882": "Charcot-Marie-Tooth disease, axonal, type 2B",
    "OMIM:163950": "Noonan syndrome 1",
    "OMIM:609942": "Noonan syndrome 3",
    "OMIM:209900": "Bardet-Biedl syndrome 1",
    "OMIM:615981": "Bardet-Biedl syndrome 2",
    "OMIM:191100": "Tuberous sclerosis-1",
    "OMIM:231670": "Glutaric acidemia I",
    "OMIM:231680": "Multiple acyl-CoA dehydrogenation deficiency",
    "OMIM:164400": "Spinocerebellar ataxia 1",
    "OMIM:109150": "Machado-Joseph disease",
    "OMIM:607014": "Hurler syndrome",
    "OMIM:606232": "Phelan-Mcdermid syndrome",
    "OMIM:225750": "Aicardi-Goutieres syndrome 1",
    "OMIM:130000": "Ehlers-danlos syndrome, type I",
    "OMIM:130050": "Ehlers-Danlos syndrome, Vascular type",
    "OMIM:607906": "Congenital disorder of glycosylation, type Ii",
    "OMIM:277900": "Wilson disease",
    "OMIM:108800": "Atrial septal defect 1",
    "OMIM:202700": "Neutropenia, severe congenital, 1, autosomal dominant",
    "OMIM:610738": "Neutropenia, severe congenital 3, autosomal recessive",
    "OMIM:211750": "C syndrome",
    "OMIM:601152": "Hereditary motor and sensory neuropathy VIA",
    "OMIM:310300": "Emery-Dreifuss muscular dystrophy 1, X-linked",
    "OMIM:181350": "Emery-Dreifuss muscular dystrophy 2, autosomal dominant",
}

MONDO = [
    DiseaseClass("MONDO:1", "Charcot-Marie-Tooth disease type 2A2A", [
        "Charcot-Marie-Tooth disease type 2A", "CMT2A2A"], {"OMIM:609260"}),
    DiseaseClass("MONDO:2", "Charcot-Marie-Tooth disease type 2B", ["CMT2B"], {"OMIM:600882"}),
    DiseaseClass("MONDO:3", "Noonan syndrome", ["Noonan's syndrome"], series={"OMIM:163950"}),
    DiseaseClass("MONDO:4", "Noonan syndrome 1", ["male Turner syndrome"], {"OMIM:163950"}),
    DiseaseClass("MONDO:5", "Noonan syndrome 3", ["NS3"], {"OMIM:609942"}),
    DiseaseClass("MONDO:6", "Bardet-Biedl syndrome", ["BBS"], series={"OMIM:209900"}),
    DiseaseClass("MONDO:7", "Bardet-Biedl syndrome 2", ["Bardet-Biedl syndrome"], {"OMIM:615981"}),
    DiseaseClass("MONDO:8", "tuberous sclerosis 1", ["tuberous sclerosis complex"],
        {"OMIM:191100"}),
    DiseaseClass("MONDO:9", "glutaric aciduria type 2", ["glutaric acidemia II"], {"OMIM:231680"}),
    DiseaseClass("MONDO:10", "glutaryl-CoA dehydrogenase deficiency",
        ["glutaric aciduria, type 1"], {"OMIM:231670"}),
    DiseaseClass("MONDO:11", "spinocerebellar ataxia type 3", ["SCA3"], {"OMIM:109150"}),
    DiseaseClass("MONDO:12", "spinocerebellar ataxia type 1", ["SCA1"], {"OMIM:164400"}),
    DiseaseClass("MONDO:13", "spinocerebellar ataxia", [], series={"OMIM:164400"}),
    DiseaseClass("MONDO:14", "mucopolysaccharidosis type 1", ["MPS1"]),
    DiseaseClass("MONDO:15", "Hurler syndrome", ["mucopolysaccharidosis type IH"], {"OMIM:607014"}),
    DiseaseClass("MONDO:16", "mucopolysaccharidosis", [], series={"OMIM:607014"}),
    DiseaseClass("MONDO:17", "Phelan-McDermid syndrome", ["22q13.3 deletion syndrome"],
        {"OMIM:606232"}),
    DiseaseClass("MONDO:18", "Ehlers-Danlos syndrome", ["EDS"], series={"OMIM:130000"}),
    DiseaseClass("MONDO:19", "Ehlers-Danlos syndrome, vascular type",
        ["Ehlers-Danlos syndrome type IV"], {"OMIM:130050"}),
    DiseaseClass("MONDO:20", "Lennox-Gastaut syndrome", [], {"OMIM:606369"}),
    DiseaseClass("MONDO:21", "neonatal lupus", ["twofold disease"], {"OMIM:163950"}),
    DiseaseClass("MONDO:22", "other lupus", ["twofold disease"], {"OMIM:277900"}),
    DiseaseClass("MONDO:23", "atrial septal defect", ["ASD"], series={"OMIM:108800"}),
    DiseaseClass("MONDO:24", "severe congenital neutropenia", [], series={"OMIM:202700"}),
    DiseaseClass("MONDO:26", "CMT2A1 disease", ["CMT 2A"], {"OMIM:118210"}),
    DiseaseClass("MONDO:27", "hereditary motor and sensory neuropathy 6A", ["CMT6"],
        {"OMIM:601152"}),
    DiseaseClass("MONDO:28", "Emery-Dreifuss muscular dystrophy 1x", ["EDMD1"], {"OMIM:310300"}),
    DiseaseClass("MONDO:29", "Emery-Dreifuss muscular dystrophy 2", ["LGMD1B"], {"OMIM:181350"}),
    DiseaseClass("MONDO:30", "Emery-Dreifuss muscular dystrophy", [], series={"OMIM:310300"}),
    DiseaseClass("MONDO:25", "Kostmann syndrome", [], {"OMIM:610738"}),
]  # fmt: skip

ORPHANET = [DiseaseClass("ORPHA:51", "Aicardi-Goutières syndrome", ["AGS"], {"OMIM:225750"})]


@pytest.fixture(scope="session")
def lexicon() -> pl.DataFrame:
    return build_lexicon(CANDIDATES, MONDO, ORPHANET)


@pytest.fixture(scope="session")
def data():
    root = Path(__file__).resolve().parents[2]
    folder = Path(os.environ.get("RAREFUSE_DATA", root.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set RAREFUSE_DATA")
    return folder
