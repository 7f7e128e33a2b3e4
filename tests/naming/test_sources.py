import json

import pytest

from rarefuse.errors import InputError
from rarefuse.naming.sources import merge_mondo, read_mappings, read_mondo, read_orphanet

NAMES = [
    {"id": "0000001", "name": "ataxia one", "synonyms": ["A1"],
     "xrefs": [{"namespace": "OMIM", "id": "100"}, {"namespace": "Orphanet", "id": "7"}]},
    {"id": "0000002", "name": "ataxia", "xrefs": [{"namespace": "OMIMPS", "id": "100"}]},
]  # fmt: skip
SSSOM = """\
# mapping_set_id: x
subject_id\tsubject_label\tpredicate_id\tobject_id\tobject_label\tmapping_justification
MONDO:0000001\tataxia type 1\tskos:exactMatch\tOMIM:101\tATAXIA 1\tsemapv:UnspecifiedMatching
MONDO:0000001\tataxia type 1\tskos:broadMatch\tOMIM:102\tATAXIA 2\tsemapv:UnspecifiedMatching
MONDO:0000003\tobsolete ataxia\tskos:exactMatch\tOMIM:103\tATAXIA 3\tsemapv:UnspecifiedMatching
"""
ORPHANET = """<JDBOR><DisorderList><Disorder id="1"><OrphaCode>7</OrphaCode><Name>Ataxia</Name>
<SynonymList><Synonym>AX</Synonym></SynonymList><ExternalReferenceList>
<ExternalReference><Source>OMIM</Source><Reference>100</Reference><DisorderMappingRelation>
<Name>E (Exact mapping)</Name></DisorderMappingRelation></ExternalReference>
<ExternalReference><Source>OMIM</Source><Reference>200</Reference><DisorderMappingRelation>
<Name>BTNT (broader)</Name></DisorderMappingRelation></ExternalReference>
</ExternalReferenceList></Disorder></DisorderList></JDBOR>"""


def test_mondo(tmp_path):
    names, mappings = tmp_path / "mondo.json", tmp_path / "mondo.sssom.tsv"
    names.write_text(json.dumps(NAMES))
    mappings.write_text(SSSOM)
    one, series = merge_mondo(read_mondo(names), read_mappings(mappings))
    # The mapping file decides where it knows a class, and has the newer label.
    assert (one.id, one.name, one.omim) == ("MONDO:0000001", "ataxia type 1", {"OMIM:101"})
    assert one.synonyms == ["ataxia one", "A1"]
    assert one.titles == ["ATAXIA 1"]
    assert (series.name, series.series, series.omim) == ("ataxia", {"OMIM:100"}, set())


def test_orphanet(tmp_path):
    path = tmp_path / "en_product1.xml"
    path.write_text(ORPHANET)
    (found,) = read_orphanet(path)
    assert (found.id, found.name, found.synonyms) == ("ORPHA:7", "Ataxia", ["AX"])
    assert found.omim == {"OMIM:100"}


@pytest.mark.parametrize(
    "reader", [read_mondo, read_mappings, lambda path: list(read_orphanet(path))]
)
def test_other_files(tmp_path, reader):
    path = tmp_path / "file"
    path.write_text("[1, 2]" if reader is read_mondo else "nothing of the kind")
    with pytest.raises(InputError, match="cannot be read"):
        reader(path)
