import json
import os
import struct
import zipfile

import pytest

from rarefuse.artifacts import read, write
from rarefuse.corpus import phenopackets, terms
from rarefuse.corpus.cases import CASES, SKIPPED, case_id
from rarefuse.corpus.phenopackets import duration_days, read_phenopackets
from rarefuse.errors import InputError


@pytest.fixture
def read_one(tmp_path, packet, packets, resolver):
    """Read one phenopacket beside a sound one; its row (or None) and the skipped rows."""

    def run(content=None, *, publication="external-references", **fields):
        content = packet(**fields) if content is None else content
        folder = packets(tmp_path / "corpus", it=content, sound=packet())
        corpus = read_phenopackets("c", folder, resolver, publication=publication)
        row = next(
            (r for r in corpus.cases.iter_rows(named=True) if r["record"] == "it.json"), None
        )
        assert corpus.cases["record"].to_list()[-1] == "sound.json"
        left_out = [r for r in corpus.skipped.iter_rows(named=True) if r["record"] == "it.json"]
        return row, [(r["level"], r["reason"], r["detail"]) for r in left_out], corpus

    return run


def zip_of(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            archive.writestr(name, data)
    return path


def withheld(corpus, record="it.json"):
    identity = case_id("c", record)
    return {(k, v) for c, k, v in corpus.withheld.iter_rows() if c == identity}


# --- what a sound phenopacket gives


def test_a_phenopacket_becomes_one_row(read_one):
    row, left_out, _ = read_one(observed=["HP:0000003", "HP:0000001"], excluded=["HP:0000002"])
    assert row == {
        "case_id": case_id("c", "it.json"),
        "record": "it.json",
        "publication_id": "PMID:123",
        "gold_id": "OMIM:100001",
        "gold_label": "name of OMIM:100001",
        "sex": "FEMALE",
        "age_days": 6 * 365.25,
        "onset": None,
        "observed": ["HP:0000003", "HP:0000001"],
        "excluded": ["HP:0000002"],
    }
    assert left_out == []


def test_zip_folder_and_file_give_the_same_case(tmp_path, packet, packets, resolver):
    folder = packets(tmp_path / "in", a=packet())
    archive = zip_of(tmp_path / "a.zip", **{"a.json": packet()})
    frames = [
        read_phenopackets("c", path, resolver).cases
        for path in (folder, archive, folder / "a.json")
    ]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


def test_a_zip_is_searched_at_any_depth_and_its_other_files_are_counted(
    tmp_path, packet, resolver, skipped
):
    path = zip_of(
        tmp_path / "a.zip",
        **{
            "x/": b"",
            "x/y/b.json": packet(),
            "x/<b>odd & näme</b>.JSON": packet(),
            "x/corpus.yml": b"a: 1",
        },
    )
    corpus = read_phenopackets("c", path, resolver)
    assert corpus.cases["record"].to_list() == ["x/<b>odd & näme</b>.JSON", "x/y/b.json"]
    assert skipped(corpus, "file") == [("x/corpus.yml", phenopackets.NOT_A_RECORD, None)]


def test_the_frames_are_artifacts_in_the_documented_order(tmp_path, packet, packets, resolver):
    folder = packets(
        tmp_path / "in",
        b=packet(observed=["HP:0000001"] * 3 + ["HP:0000009", "bad"]),
        a=packet(gold=()),
        c=packet(),
    )
    corpus = read_phenopackets("c", folder, resolver)
    assert corpus.cases["record"].to_list() == ["b.json", "c.json"]
    keys = corpus.skipped.rows()
    assert keys == sorted(keys, key=lambda r: tuple((v is None, v or "") for v in r))
    assert corpus.withheld.rows() == sorted(corpus.withheld.rows())
    for frame, schema in ((corpus.cases, CASES), (corpus.skipped, SKIPPED)):
        write(frame, schema, tmp_path / schema.name)
        assert read(tmp_path / schema.name, schema).equals(frame)


def test_what_no_system_may_see_is_listed(read_one):
    disease = {"id": "OMIM:100001", "label": "Made-up <i>syndrome</i>"}
    descriptor = {
        "id": "var_abc",
        "label": "NM_1.2:c.3del",
        "geneContext": {"valueId": "HGNC:5", "symbol": "GEN1", "alternateIds": ["HGNC:6", "X:1"]},
        "expressions": [{"syntax": "hgvs.g", "value": "NC_1.1:g.7A>T"}],
        "vcfRecord": {"chrom": "chr1", "pos": "7", "ref": "A", "alt": "T"},
    }
    genomic = [
        {"variantInterpretation": {"variationDescriptor": descriptor}},
        {"gene": {"valueId": "HGNC:8", "symbol": "GEN2"}},
    ]
    diagnosis = {"disease": disease, "genomicInterpretations": genomic}
    _, _, corpus = read_one(interpretations=[{"diagnosis": diagnosis}])
    assert withheld(corpus) == {
        ("disease_id", "OMIM:100001"),
        ("disease_name", "Made-up <i>syndrome</i>"),
        ("gene", "GEN1"),
        ("gene", "GEN2"),
        ("hgnc", "HGNC:5"),
        ("hgnc", "HGNC:6"),
        ("hgnc", "HGNC:8"),
        ("variant", "NM_1.2:c.3del"),
        ("variant", "NC_1.1:g.7A>T"),
        ("variant", "chr1-7-A-T"),
        ("pmid", "PMID:123"),
        ("path", "it.json"),
        ("path", "it"),
        ("path", "PMID_123_case_1"),
    }


# --- gold


def test_several_interpretations_of_one_disease_are_one(read_one):
    row, left_out, _ = read_one(gold=["OMIM:100001", "OMIM:100001"])
    assert row["gold_id"] == "OMIM:100001"
    assert left_out == []


def test_several_gold_diseases_are_skipped(read_one):
    row, left_out, _ = read_one(gold=["OMIM:100001", "OMIM:100002"])
    assert row is None
    assert left_out == [("case", phenopackets.SEVERAL_GOLD, "OMIM:100001, OMIM:100002")]


def listed(*ids, **more):
    return [{"term": {"id": i, "label": f"listed {i}"}, **more} for i in ids]


def test_without_an_interpretation_the_one_listed_disease_is_gold(read_one):
    diseases = listed("OMIM:100001") + listed("OMIM:100002", excluded=True)
    row, _, _ = read_one(gold=(), diseases=diseases)
    assert (row["gold_id"], row["gold_label"]) == ("OMIM:100001", "listed OMIM:100001")


@pytest.mark.parametrize(
    ("diseases", "status", "reason"),
    [
        ([], None, phenopackets.NO_GOLD),
        (listed("OMIM:100001", excluded=True), None, phenopackets.NO_GOLD),
        (listed("OMIM:100001", "OMIM:100002"), None, phenopackets.SEVERAL_GOLD),
        (listed("a made-up syndrome"), None, phenopackets.BAD_GOLD),
        (listed("OMIM:100001"), "UNSOLVED", phenopackets.NO_GOLD),
    ],
)
def test_a_record_without_one_gold_disease_is_skipped(read_one, diseases, status, reason):
    interpretations = [{"progressStatus": status, "diagnosis": {}}] if status else []
    row, left_out, _ = read_one(diseases=diseases, interpretations=interpretations)
    assert row is None
    assert [(level, found) for level, found, _ in left_out] == [("case", reason)]


# --- publication


def references(*ids):
    return {"externalReferences": [{"id": i} for i in ids]}


@pytest.mark.parametrize(
    ("refs", "packet_id", "option", "expected"),
    [
        (["PMID:7"], "PMID_123_x", "external-references", "PMID:7"),
        (["PMID:7", "PMID:7", "DOI:1"], "x", "external-references", "PMID:7"),
        (["PMID: 07 "], "x", "external-references", "PMID:7"),
        (["PMID:7", "PMID:123"], "PMID_123_x", "external-references", "PMID:123"),
        ([], "PMID:27672653-Abdul_Wahab-2016", "external-references", "PMID:27672653"),
        ([], "PMID__33890291_Proband", "external-references", "PMID:33890291"),
        (["PMID:7"], "PMID_123_x", "id", "PMID:123"),
        (["PMID:7"], "PMID_123_x", "none", None),
    ],
)
def test_the_publication_is_found_where_the_option_says(
    read_one, refs, packet_id, option, expected
):
    row, left_out, _ = read_one(id=packet_id, metaData=references(*refs), publication=option)
    assert row["publication_id"] == expected
    assert left_out == []


def test_the_publication_can_come_from_the_file_name(tmp_path, packet, packets, resolver):
    content = packet(id="x", metaData={})
    folder = packets(tmp_path / "in", PMID_15266616_100=content)
    assert read_phenopackets("c", folder, resolver).cases["publication_id"][0] == "PMID:15266616"


def test_a_case_of_unclear_source_is_skipped_and_one_of_no_source_is_reported(read_one):
    row, left_out, _ = read_one(id="x", metaData=references("PMID:7", "PMID:8"))
    assert row is None
    assert left_out == [("case", phenopackets.SEVERAL_PUBLICATIONS, "PMID:7, PMID:8")]
    row, left_out, _ = read_one(id="x", metaData=references())
    assert row["publication_id"] is None
    assert left_out == [("field", phenopackets.NO_PUBLICATION, "x")]


def test_an_unknown_way_to_find_the_publication_is_an_error(tmp_path, resolver):
    with pytest.raises(InputError, match="external-references, id, none"):
        read_phenopackets("c", tmp_path, resolver, publication="doi")


# --- terms: the rules are tested in test_terms; here, that the reader applies them


@pytest.mark.parametrize(
    ("observed", "excluded", "kept", "level", "reason"),
    [
        (["HP:0000001", "HP:0099999"], [], ["HP:0000001"], "term", terms.UNKNOWN),
        (["HP:0000001", "HP:0000103"], [], ["HP:0000001"], "term", terms.OBSOLETE),
        (["HP:0000102"], [], ["HP:0000002"], "mapped", terms.FROM_OBSOLETE),
        (["HP:0000101"], [], ["HP:0000001"], "mapped", terms.FROM_ALTERNATIVE),
        (["HP:0000001", "HP:0000001"], [], ["HP:0000001"], "term", terms.DUPLICATE),
        (["HP:0000001", "HP:0000002"], ["HP:0000001"], ["HP:0000002"], "term", terms.BOTH),
        (["HP:0000001", "HP:0003577"], [], ["HP:0000001"], "term", terms.OUTSIDE),
        (["HP:0000001", "headache"], [], ["HP:0000001"], "term", terms.MALFORMED),
    ],
)
def test_terms_are_normalised(read_one, observed, excluded, kept, level, reason):
    row, left_out, _ = read_one(observed=observed, excluded=excluded)
    assert (row["observed"], row["excluded"]) == (kept, [])
    assert [(a, b) for a, b, _ in left_out] == [(level, reason)]


@pytest.mark.parametrize("observed", [[], ["HP:0003577"]])
def test_a_case_without_an_observed_term_stays(read_one, observed):
    row, _, _ = read_one(observed=observed, excluded=["HP:0000002"])
    assert (row["observed"], row["excluded"]) == ([], ["HP:0000002"])


# --- sex, age, onset


@pytest.mark.parametrize(
    ("sex", "expected", "reported"),
    [
        ("MALE", "MALE", []),
        ("OTHER_SEX", "OTHER_SEX", []),
        ("UNKNOWN_SEX", None, []),
        (None, None, []),
        ("male", None, [("field", "sex not understood", "male")]),
    ],
)
def test_sex(read_one, sex, expected, reported):
    row, left_out, _ = read_one(subject={"sex": sex})
    assert (row["sex"], left_out) == (expected, reported)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("P6Y", 6 * 365.25),
        ("P5Y8M", 5 * 365.25 + 8 * 30.4375),
        ("P3W", 21.0),
        ("P1DT12H", 1.5),
        ("PT90M", 0.0625),
        ("P0D", 0.0),
        ("P0.5Y", 182.625),
        ("P1,5D", 1.5),
        ("P", None),
        ("PT", None),
        ("P1YT", None),
        ("P-1Y", None),
        ("P2T5M", None),
        ("6 years", None),
        ("P1Y ", None),
        ("P1M1Y", None),
        ("P151Y", None),
        ("P" + "9" * 400 + "Y", None),
        (6, None),
    ],
)
def test_durations(text, days):
    assert duration_days(text) == days


def span(start, end):
    return {"ageRange": {k: {"iso8601duration": v} for k, v in (("start", start), ("end", end))}}


@pytest.mark.parametrize(
    ("time", "days", "reported"),
    [
        (span("P10D", "P20D"), 15.0, []),
        (span("P10D", "soon"), None, [("field", phenopackets.BAD_AGE, "P10D to soon")]),
        (
            {"age": {"iso8601duration": "six"}},
            None,
            [("field", phenopackets.BAD_AGE, "six")],
        ),
        (
            {"gestationalAge": {"weeks": 20}},
            None,
            [("field", phenopackets.OTHER_AGE, "gestationalAge")],
        ),
        (None, None, []),
    ],
)
def test_age(read_one, time, days, reported):
    row, left_out, _ = read_one(subject={"timeAtLastEncounter": time})
    assert (row["age_days"], left_out) == (days, reported)


@pytest.mark.parametrize(
    ("onset", "expected", "reported"),
    [
        ({"ontologyClass": {"id": "HP:0003577"}}, "HP:0003577", []),
        ({"ontologyClass": {"id": "HP:0000104"}}, "HP:0003577", []),
        ({"age": {"iso8601duration": "P2Y"}}, "P2Y", []),
        (
            {"age": {"iso8601duration": "2"}},
            None,
            [("field", phenopackets.BAD_ONSET, "2")],
        ),
        (
            {"ontologyClass": {"id": "HP:0000103"}},
            None,
            [("field", phenopackets.BAD_ONSET, "HP:0000103")],
        ),
        (
            {"gestationalAge": {"weeks": 20}},
            None,
            [("field", phenopackets.OTHER_ONSET, "gestationalAge")],
        ),
        (None, None, []),
    ],
)
def test_onset_is_that_of_the_gold_disease(read_one, onset, expected, reported):
    diseases = listed("OMIM:100009", onset={"age": {"iso8601duration": "P9Y"}})
    diseases += listed("OMIM:100001", onset=onset)
    row, left_out, _ = read_one(diseases=diseases)
    assert (row["onset"], left_out) == (expected, reported)


# --- records that cannot be used: one counted row each, the others are read


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{not json", phenopackets.NOT_JSON),
        (b"", phenopackets.NOT_JSON),
        (b"\xff\xfe\x00", phenopackets.NOT_JSON),
        (b"[" * 100_000, phenopackets.NOT_JSON),
        (b"[1, 2]", phenopackets.NOT_A_PHENOPACKET),
        (b'{"resourceType": "Patient"}', phenopackets.NOT_A_PHENOPACKET),
        (b'{"phenotypicFeatures": {"a": 1}}', phenopackets.MALFORMED),
        (b'{"phenotypicFeatures": ["HP:0000001"]}', phenopackets.MALFORMED),
        (b'{"subject": 3}', phenopackets.MALFORMED),
        (b'{"interpretations": [{"diagnosis": "x"}]}', phenopackets.MALFORMED),
    ],
)
def test_a_record_that_is_no_phenopacket_is_one_counted_row(read_one, content, reason):
    row, left_out, _ = read_one(content)
    assert row is None
    assert [(level, found) for level, found, _ in left_out] == [("case", reason)]
    assert left_out[0][2]


def test_a_text_for_excluded_is_not_taken_for_true_or_false(read_one):
    features = [{"type": {"id": "HP:0000001"}, "excluded": "false"}]
    row, left_out, _ = read_one(phenotypicFeatures=features)
    assert row is None
    assert left_out[0][:2] == ("case", phenopackets.MALFORMED)


def test_a_byte_order_mark_is_read_over(read_one, packet):
    row, _, _ = read_one(b"\xef\xbb\xbf" + json.dumps(packet()).encode())
    assert row is not None


@pytest.mark.parametrize(
    "fields",
    [
        {"metaData": {"phenopacketSchemaVersion": "1.0.0"}},
        {"metaData": {}, "phenotypicFeatures": [{"type": {"id": "HP:0000001"}, "negated": True}]},
        {"metaData": {}, "subject": {"ageAtCollection": {"age": "P6Y"}}},
        {"metaData": {}, "diseases": listed("OMIM:100001", ageOfOnset={"age": "P1Y"})},
        {"metaData": {}, "genes": [{"symbol": "GEN1"}]},
    ],
)
def test_schema_v1_is_skipped_and_says_how_to_convert(read_one, fields):
    row, left_out, _ = read_one(**fields)
    assert row is None
    assert [(level, reason) for level, reason, _ in left_out] == [("case", phenopackets.SCHEMA_V1)]
    assert "phenopacket-tools convert" in left_out[0][1]


def test_a_member_that_climbs_out_is_not_read(tmp_path, packet, resolver, skipped):
    members = {"a.json": packet(), "../b.json": packet(), "/c.json": packet()}
    corpus = read_phenopackets("c", zip_of(tmp_path / "a.zip", **members), resolver)
    assert corpus.cases["record"].to_list() == ["a.json"]
    reasons = {(record, reason) for record, reason, _ in skipped(corpus, "case")}
    assert reasons == {(r, phenopackets.UNSAFE_PATH) for r in ("../b.json", "/c.json")}


def test_a_bomb_is_not_unpacked(tmp_path, packet, resolver, skipped):
    bomb = b" " * ((64 << 20) + 1)
    path = zip_of(tmp_path / "a.zip", **{"a.json": packet(), "bomb.json": bomb})
    corpus = read_phenopackets("c", path, resolver)
    assert skipped(corpus, "case") == [("bomb.json", phenopackets.TOO_LARGE, f"{len(bomb)} bytes")]


def test_a_member_twice_is_read_once_and_counted(tmp_path, packet, resolver, skipped):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", json.dumps(packet()))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.json", json.dumps(packet(gold=["OMIM:100002"])))
    corpus = read_phenopackets("c", path, resolver)
    assert corpus.cases["gold_id"].to_list() == ["OMIM:100001"]
    assert skipped(corpus, "case") == [
        ("a.json", "record stands twice", "the first is kept; OMIM:100002")
    ]


def test_an_encrypted_member_is_counted(tmp_path, packet, resolver, skipped):
    path = zip_of(tmp_path / "a.zip", **{"a.json": packet(), "b.json": packet()})
    data = bytearray(path.read_bytes())
    # The flag of encryption, set in the last entry of the central directory.
    entry = data.rindex(b"PK\x01\x02")
    struct.pack_into("<H", data, entry + 8, 1)
    path.write_bytes(data)
    corpus = read_phenopackets("c", path, resolver)
    assert skipped(corpus, "case") == [("b.json", phenopackets.ENCRYPTED, None)]


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes on posix only")
def test_a_file_name_that_is_not_unicode_is_readable_in_the_table(tmp_path, packet, resolver):
    folder = tmp_path / "in"
    folder.mkdir()
    with open(os.fsencode(folder) + b"/a\xff.json", "wb") as handle:
        handle.write(json.dumps(packet()).encode())
    assert read_phenopackets("c", folder, resolver).cases["record"].to_list() == ["a\\xff.json"]


# --- corpora that cannot be used: one error


@pytest.mark.parametrize("length", [0, 10, 300])
def test_a_truncated_zip_is_one_error(tmp_path, packet, resolver, length):
    path = zip_of(tmp_path / "a.zip", **{f"{i}.json": packet() for i in range(9)})
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(InputError, match="not a whole zip archive") as caught:
        read_phenopackets("c", path, resolver)
    assert str(path) in caught.value.where


def test_a_corrupt_zip_names_the_member(tmp_path, packet, resolver):
    path = zip_of(tmp_path / "a.zip", **{"a.json": packet(), "b.json": packet()})
    data = bytearray(path.read_bytes())
    start = data.index(b"b.json") + 30
    data[start : start + 40] = bytes(40)
    path.write_bytes(data)
    with pytest.raises(InputError, match="not a whole zip archive") as caught:
        read_phenopackets("c", path, resolver)
    assert "member b.json" in caught.value.where


def test_a_corpus_without_a_usable_case_says_why(tmp_path, packet, packets, resolver):
    folder = packets(tmp_path / "in", a=b"{", b=b"{", c=packet(gold=()))
    with pytest.raises(InputError, match="no usable case") as caught:
        read_phenopackets("c", folder, resolver)
    assert caught.value.found == "1 × no gold disease, 2 × not JSON"


def test_an_empty_folder_and_a_missing_path_are_errors(tmp_path, resolver):
    with pytest.raises(InputError, match="no record"):
        read_phenopackets("c", tmp_path, resolver)
    with pytest.raises(InputError, match="is missing"):
        read_phenopackets("c", tmp_path / "none.zip", resolver)
