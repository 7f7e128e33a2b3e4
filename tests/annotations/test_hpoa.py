import gzip

import pytest

from rarefuse.annotations.hpoa import ANNOTATIONS, HPOA_COLUMNS, read_hpoa, stated_release
from rarefuse.errors import InputError


def write(tmp_path, content, name="phenotype.hpoa"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_every_row_and_column_is_kept_with_its_line_number(tmp_path, hpoa_text):
    full = {name: f"<{name}> é" for name in HPOA_COLUMNS}
    text = hpoa_text({}, full, {"qualifier": "NOT", "aspect": "I", "database_id": "ORPHA:1"})
    frame = read_hpoa(write(tmp_path, text))
    ANNOTATIONS.check(frame, "frame")
    # Two comments and the header are lines 1 to 3.
    assert frame["row"].to_list() == [4, 5, 6]
    assert frame.row(1, named=True) == {"row": 5, **full}
    assert frame.row(0, named=True)["onset"] == ""
    assert frame["database_id"].to_list() == ["OMIM:100001", "<database_id> é", "ORPHA:1"]


def test_line_ends_gzip_and_a_missing_last_line_end_change_nothing(tmp_path, hpoa_text):
    text = hpoa_text({}, {"hpo_id": "HP:0000003", "biocuration": "last"})
    frame = read_hpoa(write(tmp_path, text))
    for same in (
        text.replace("\n", "\r\n"),
        text.rstrip("\n"),
        text + "\n\n",
        gzip.compress(text.encode()),
        gzip.compress(text.replace("\n", "\r\n").encode()),
    ):
        assert read_hpoa(write(tmp_path, same)).equals(frame)
    assert frame["biocuration"].to_list() == ["HPO:x[2020-01-01]", "last"]


def test_an_empty_line_keeps_the_numbers_of_the_others(tmp_path, hpoa_text):
    lines = hpoa_text({}, {}).splitlines()
    lines.insert(4, "")
    assert read_hpoa(write(tmp_path, "\n".join(lines)))["row"].to_list() == [4, 6]


def test_columns_are_found_by_name(tmp_path, hpoa_text):
    header = ["extra", *reversed(HPOA_COLUMNS)]
    frame = read_hpoa(write(tmp_path, hpoa_text({"extra": "?"}, header=header)))
    assert frame.columns == ["row", *HPOA_COLUMNS]
    assert frame["hpo_id"].to_list() == ["HP:0000002"]


def test_a_header_without_rows_is_an_empty_frame(tmp_path, hpoa_text):
    frame = read_hpoa(write(tmp_path, hpoa_text()))
    ANNOTATIONS.check(frame, "frame")
    assert frame.height == 0


@pytest.mark.parametrize("gone", HPOA_COLUMNS)
def test_a_missing_column_is_named(tmp_path, hpoa_text, gone):
    path = write(tmp_path, hpoa_text({}, header=[n for n in HPOA_COLUMNS if n != gone]))
    with pytest.raises(InputError, match="lacks columns") as caught:
        read_hpoa(path)
    assert gone in caught.value.expected
    assert str(path) in caught.value.where


OLD = ("DatabaseID", "DiseaseName", "Qualifier", "HPO_ID", "Reference", "Evidence", "Onset",
       "Frequency", "Sex", "Modifier", "Aspect", "Biocuration")  # fmt: skip


@pytest.mark.parametrize("mark", ["#", ""])
def test_a_release_before_2023_is_the_same_rows(tmp_path, hpoa_text, mark):
    new = hpoa_text({}, {"hpo_id": "HP:0000003"})
    old = new.replace("\t".join(HPOA_COLUMNS), mark + "\t".join(OLD))
    assert old != new
    (tmp_path / "old").write_text(old)
    (tmp_path / "new").write_text(new)
    assert read_hpoa(tmp_path / "old").equals(read_hpoa(tmp_path / "new"))


def test_other_files_of_the_project_are_refused(tmp_path):
    text = "#Format: HPO-id<tab>HPO label<tab>entrez-gene-id\nHP:0000002\tAbn\t3954\n"
    with pytest.raises(InputError, match="lacks columns") as caught:
        read_hpoa(write(tmp_path, text))
    assert "since 2018" in caught.value.todo


@pytest.mark.parametrize(
    "comments, release",
    [
        (("#description: x", "#version: 2026-06-23", "#hpo-version: u/hp.json"),
         ("2026-06-23", "u/hp.json")),
        (("#date: 2021-02-28", "#HPO-version: hp.owl"), ("2021-02-28", "hp.owl")),
        (("#description: version: 3",), (None, None)),
    ],
)  # fmt: skip
def test_the_stated_release(hpoa_text, comments, release):
    assert stated_release(hpoa_text({}, comments=comments)) == release


@pytest.mark.parametrize("change", ["drop", "add"])
def test_a_row_with_another_number_of_fields_is_named(tmp_path, hpoa_text, change):
    lines = hpoa_text({}, {}, {}).splitlines()
    lines[4] = lines[4].rsplit("\t", 1)[0] if change == "drop" else lines[4] + "\tmore"
    path = write(tmp_path, "\n".join(lines))
    with pytest.raises(InputError, match="number of fields") as caught:
        read_hpoa(path)
    assert caught.value.where == f"{path}, row 5"
    assert caught.value.found.startswith("11 fields" if change == "drop" else "13 fields")


def test_a_file_that_is_cut_off_inside_a_row_is_an_error(tmp_path, hpoa_text):
    text = hpoa_text({}, {}, {})
    with pytest.raises(InputError, match="row 6"):
        read_hpoa(write(tmp_path, text[:-40]))


@pytest.mark.parametrize("damage", ["cut", "header", "block", "latin-1", "none"])
def test_a_damaged_file_is_one_error_that_names_it(tmp_path, hpoa_text, damage):
    text = hpoa_text(*({"disease_name": f"disease {i * i}"} for i in range(300)))
    packed = gzip.compress(text.encode())
    path = write(
        tmp_path,
        {
            "cut": packed[: len(packed) // 2],
            "header": packed[:5],
            "block": packed[:10] + b"\xff" * 50,  # zlib.error, which is no OSError
            "latin-1": text.replace("disease 1\t", "sjögren\t").encode("latin-1"),
            "none": b"",
        }[damage],
    )
    with pytest.raises(InputError) as caught:
        read_hpoa(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.hpoa"):
        read_hpoa(tmp_path / "nowhere.hpoa")
