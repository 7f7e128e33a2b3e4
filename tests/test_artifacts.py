import os
import signal
import subprocess
import sys
import textwrap

import polars as pl
import pytest

from rarefuse import artifacts
from rarefuse.artifacts import Column, Schema
from rarefuse.errors import InputError

SCHEMA = Schema(
    "tiny",
    (
        Column("id", pl.String, "identifier"),
        Column("n", pl.Int32, "number of things"),
        Column("parts", pl.List(pl.Int32), "parts"),
        Column("note", pl.String, "free text", nullable=True),
    ),
    key=("id", "n"),
)
ROWS = [("a", 1, [1, 2], None), ("a", 2, [], "x"), ("b", 1, [3], "é")]


def make(rows=ROWS, schema=SCHEMA.dtypes):
    return pl.DataFrame(rows, schema=schema, orient="row")


def refused(frame, schema=SCHEMA):
    with pytest.raises(InputError) as caught:
        schema.check(frame, "some.parquet")
    return caught.value


def test_a_frame_that_fits_passes():
    SCHEMA.check(make(), "some.parquet")
    SCHEMA.check(make([]), "some.parquet")


def test_columns_have_to_be_these_in_this_order():
    error = refused(make().select("n", "id", "parts", "note"))
    assert error.what == "artifact 'tiny' has the wrong columns"
    assert error.where == "some.parquet"
    assert (error.found, error.expected) == ("n, id, parts, note", "id, n, parts, note")
    assert "wrong columns" in refused(make().drop("note")).what
    assert "wrong columns" in refused(make().with_columns(extra=1)).what


@pytest.mark.parametrize(
    "column, dtype, found",
    [("n", pl.Int64, "Int64"), ("parts", pl.List(pl.Int64), "List(Int64)")],
)
def test_types_have_to_be_these(column, dtype, found):
    error = refused(make().with_columns(pl.col(column).cast(dtype)))
    assert error.what == "artifact 'tiny' has a column of the wrong type"
    assert error.where == f"some.parquet, column '{column}'"
    assert (error.found, error.expected) == (found, found.replace("64", "32"))


def test_nulls_are_only_where_they_may_be():
    error = refused(make([*ROWS, ("c", None, [], None), ("d", None, [], None)]))
    assert error.what == "artifact 'tiny' has an empty value where none is allowed"
    assert error.where == "some.parquet, column 'n'"
    assert (error.found, error.expected) == ("2 nulls", "number of things, always given")


def test_a_key_stands_once():
    error = refused(make([*ROWS, ("a", 2, [9], None)]))
    assert error.what == "artifact 'tiny' has a row twice"
    assert (error.found, error.expected) == ("id=a, n=2", "one row for each (id, n)")
    Schema("tiny", SCHEMA.columns).check(make([*ROWS, ("a", 2, [9], None)]), "some.parquet")


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "deep" / "er" / "tiny.parquet"
    artifacts.write(make(), SCHEMA, path)
    assert artifacts.read(path, SCHEMA).equals(make())
    assert os.listdir(path.parent) == ["tiny.parquet"]


def test_the_same_rows_are_the_same_bytes(tmp_path):
    many = make([(str(i), i % 7, list(range(i % 5)), None) for i in range(5_000)])
    parts = pl.concat([many[:1_234], many[1_234:]], rechunk=False)
    assert parts.n_chunks() > 1
    for name, frame in (("one", many), ("again", many.clone()), ("parts", parts)):
        artifacts.write(frame, SCHEMA, tmp_path / name)
    one = (tmp_path / "one").read_bytes()
    assert (tmp_path / "again").read_bytes() == one
    assert (tmp_path / "parts").read_bytes() == one
    artifacts.write(many[1:], SCHEMA, tmp_path / "less")
    assert (tmp_path / "less").read_bytes() != one


def test_a_frame_that_does_not_fit_is_not_written(tmp_path):
    path = tmp_path / "tiny.parquet"
    artifacts.write(make(), SCHEMA, path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="wrong columns"):
        artifacts.write(make().drop("n"), SCHEMA, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["tiny.parquet"]


def test_text_is_written_as_utf8_without_changed_line_ends(tmp_path):
    artifacts.write_text("é\r\nb\n", tmp_path / "t.txt")
    assert (tmp_path / "t.txt").read_bytes() == "é\r\nb\n".encode()


def test_reading_a_missing_file_says_so(tmp_path):
    with pytest.raises(InputError, match="is missing") as caught:
        artifacts.read(tmp_path / "none.parquet", SCHEMA)
    assert caught.value.where == str(tmp_path / "none.parquet")


@pytest.mark.parametrize("content", ["half", "tail", "text", "nothing"])
def test_what_is_not_a_whole_parquet_file_is_one_error(tmp_path, content):
    path = tmp_path / "tiny.parquet"
    artifacts.write(make(), SCHEMA, path)
    whole = path.read_bytes()
    path.write_bytes(
        {
            "half": whole[: len(whole) // 2],
            "tail": whole[:-1],
            "text": b"id\tn\n",
            "nothing": b"",
        }[content]
    )
    with pytest.raises(InputError, match="cannot be read") as caught:
        artifacts.read(path, SCHEMA)
    assert caught.value.where == str(path)


def test_another_artifact_is_refused(tmp_path):
    other = Schema("other", (Column("id", pl.String, "identifier"),))
    artifacts.write(make().select("id"), other, tmp_path / "o.parquet")
    with pytest.raises(InputError, match="artifact 'tiny' has the wrong columns"):
        artifacts.read(tmp_path / "o.parquet", SCHEMA)


def test_an_exception_in_the_block_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.txt"
    artifacts.write_text("old", path)

    def fail():
        with artifacts.replacing(path) as temporary:
            temporary.write_text("new, half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["t.txt"]


def test_an_unwritable_place_is_an_input_error(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(InputError, match="cannot write an artifact") as caught:
        artifacts.write(make(), SCHEMA, tmp_path / "file" / "tiny.parquet")
    assert caught.value.where == str(tmp_path / "file" / "tiny.parquet")


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path):
    for name in (".t.txt.4711.tmp", ".u.txt.4711.tmp", "t.txt.old"):
        (tmp_path / name).write_text("half")
    artifacts.write_text("new", tmp_path / "t.txt")
    assert sorted(os.listdir(tmp_path)) == [".u.txt.4711.tmp", "t.txt", "t.txt.old"]
    assert (tmp_path / "t.txt").read_text() == "new"


# Writes an artifact too large for the place, over one that is already there, and reports.
TOO_LARGE = textwrap.dedent(
    """
    import os, resource, sys
    import polars as pl
    from rarefuse import artifacts
    from rarefuse.artifacts import Column, Schema
    from rarefuse.errors import InputError

    folder, limit = sys.argv[1], int(sys.argv[2])
    schema = Schema("t", (Column("x", pl.Float64, "x"),))
    path = os.path.join(folder, "t.parquet")
    artifacts.write(pl.DataFrame({"x": [1.0]}), schema, path)
    before = open(path, "rb").read()
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    noise = [((i * 2654435761) % 2**32) / 3 for i in range(100_000)]
    for write in (
        lambda: artifacts.write(pl.DataFrame({"x": noise}), schema, path),
        lambda: artifacts.write_text("x" * 800_000, path),
    ):
        try:
            write()
        except InputError as error:
            print(error.what, "|", error.found)
        print(os.listdir(folder), open(path, "rb").read() == before)
    """
)


def run(*command):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        command, check=False, capture_output=True, text=True, env=environment, timeout=120
    )


@pytest.mark.parametrize("how", ["limit", "disk"])
def test_a_full_disk_is_an_input_error_and_leaves_the_old_file(tmp_path, how):
    if how == "limit":  # a file may not grow beyond 64 KiB
        done = run(sys.executable, "-c", TOO_LARGE, str(tmp_path), str(1 << 16))
        cause = "File too large"
    else:  # a file system of 64 KiB, in a mount namespace that ends with the process
        mount = f'mount -t tmpfs -o size=64k none "{tmp_path}"'
        inside = ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh"]
        try:
            tried = run(*inside, "true")
        except FileNotFoundError:
            pytest.skip("there is no unshare")
        if tried.returncode:
            pytest.skip(f"cannot mount a small file system: {tried.stderr.strip()}")
        done = run(*inside, sys.executable, "-c", TOO_LARGE, str(tmp_path), "0")
        cause = "No space left on device"
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    for message, state in (lines[:2], lines[2:]):
        assert message.startswith("cannot write an artifact |")
        assert cause in message
        assert state == "['t.parquet'] True"


def test_a_writer_that_is_killed_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "tiny.parquet"
    artifacts.write(make(), SCHEMA, path)
    before = path.read_bytes()
    code = textwrap.dedent(
        f"""
        import time
        from rarefuse.artifacts import replacing
        with replacing({str(path)!r}) as temporary:
            temporary.write_bytes(b"half")
            print("half", flush=True)
            time.sleep(600)
        """
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    writer = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert writer.stdout.readline() == "half\n"
    writer.send_signal(signal.SIGKILL)
    writer.wait(60)
    writer.stdout.close()
    assert sorted(os.listdir(tmp_path)) == [f".tiny.parquet.{writer.pid}.tmp", "tiny.parquet"]
    assert path.read_bytes() == before
    assert artifacts.read(path, SCHEMA).equals(make())
    artifacts.write(make(ROWS[:1]), SCHEMA, path)
    assert os.listdir(tmp_path) == ["tiny.parquet"]
    assert artifacts.read(path, SCHEMA).height == 1
