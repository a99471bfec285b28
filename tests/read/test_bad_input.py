"""What goes wrong with files on their way to us: every sample, of every format, cut, doubled, packed and mangled."""

import gzip
import os
import time
import zipfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.archive import Piece, found
from doctord.read.format import formats
from doctord.read.formats import Reading, read_file
from doctord.read.gather import read_piece
from doctord.read.source import ReadOptions, opened

pytestmark = pytest.mark.slow

PROVENANCE = Path(__file__).parent / "samples" / "PROVENANCE.md"
SAMPLES = sorted(set(PROVENANCE.parent.iterdir()) - {PROVENANCE})
WRITTEN = 1_700_000_000
IN_ANY_CASE = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def is_text(sample: Path) -> bool:
    return b"\0" not in sample.read_bytes()[:65536]


def put(folder: Path, content: bytes) -> Path:
    """Always under the same name and with the same time: both may tell a reader the date."""
    file = folder / "file"
    file.write_bytes(content)
    os.utime(file, (WRITTEN, WRITTEN))
    return file


def tables(reading: Reading) -> dict[str, pl.DataFrame]:
    dataset = Dataset.from_batches(reading.batches)
    return {name: dataset.frame(name).drop("source_file", strict=False) for name in dataset.tables}


def same(one: dict[str, pl.DataFrame], other: dict[str, pl.DataFrame]) -> bool:
    return one.keys() == other.keys() and all(one[name].equals(other[name]) for name in one)


def survives(file: Path) -> None:
    """A refusal that says something, or rows."""
    try:
        reading = read_file(file, zone="UTC")
    except UserError as refusal:
        assert str(file) in str(refusal)  # noqa: PT017 - either is right
        return
    assert sum(map(len, reading.batches))


@pytest.fixture(params=SAMPLES, ids=lambda sample: sample.name)
def sample(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_it_is_read_whole(sample: Path, tmp_path: Path) -> None:
    reading = read_file(put(tmp_path, sample.read_bytes()), zone="UTC")
    assert reading.skipped_lines == 0
    for name, frame in tables(reading).items():
        assert frame["ts"].null_count() == 0, f"{name} has rows without a moment"


def test_only_its_own_format_takes_it(sample: Path, tmp_path: Path) -> None:
    with opened(put(tmp_path, sample.read_bytes())) as source:
        takers = [known.NAME for known in formats() if known.sniff(source.head)]
    # An archive is made of what other tools printed: it is the first to say that it is its own.
    archives = {
        "oswatcher": "OSWatcher",
        "many_hosts": "what many hosts printed (pdsh, clush, dsh, ansible)",
        "stamped_lines": "what a tool printed, with a time before each line",
        "log_envelopes": "a log in envelopes (Docker, Kubernetes, the journal)",
    }
    archive = archives.get(sample.name.partition(".")[0])
    assert takers[:1] == [archive] if archive else len(takers) == 1


@pytest.mark.parametrize("tenths", range(1, 10))
def test_cut_anywhere(sample: Path, tmp_path: Path, tenths: int) -> None:
    content = sample.read_bytes()
    survives(put(tmp_path, content[: len(content) * tenths // 10]))


def test_two_in_one(sample: Path, tmp_path: Path) -> None:
    survives(put(tmp_path, sample.read_bytes() * 2))


def test_packed(sample: Path, tmp_path: Path) -> None:
    content = sample.read_bytes()
    plain = tables(read_file(put(tmp_path, content), zone="UTC"))
    assert same(tables(read_file(put(tmp_path, gzip.compress(content)), zone="UTC")), plain)


def test_in_an_archive(sample: Path, tmp_path: Path) -> None:
    plain = read_piece(Piece(put(tmp_path, sample.read_bytes()), "file"), ReadOptions())
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.write(tmp_path / "file", "file")
    with found([archive]) as what:
        assert [piece.name for piece in what.pieces] == [f"{archive}/file"]
        os.utime(what.pieces[0].path, (WRITTEN, WRITTEN))
        held = read_piece(what.pieces[0], ReadOptions())
    assert {name: table.num_rows for name, table in held.tables.items()} == {
        name: table.num_rows for name, table in plain.tables.items()
    }


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_saved_on_windows(sample: Path, tmp_path: Path, encoding: str) -> None:
    if not is_text(sample):
        pytest.skip("no text")
    content = sample.read_bytes()
    plain = tables(read_file(put(tmp_path, content), zone="UTC"))
    saved = content.decode().replace("\n", "\r\n").encode(encoding)
    assert same(tables(read_file(put(tmp_path, saved), zone="UTC")), plain)


@IN_ANY_CASE
@given(noise=st.binary(max_size=200), at=st.floats(0, 1))
def test_noise_in_the_middle(sample: Path, tmp_path: Path, noise: bytes, at: float) -> None:
    content = sample.read_bytes()
    middle = int(len(content) * at)
    survives(put(tmp_path, content[:middle] + noise + content[middle:]))


@IN_ANY_CASE
@given(first=st.floats(0, 1), length=st.integers(0, 400))
def test_a_hole_in_the_middle(sample: Path, tmp_path: Path, first: float, length: int) -> None:
    content = sample.read_bytes()
    begin = int(len(content) * first)
    survives(put(tmp_path, content[:begin] + content[begin + length :]))


def test_nothing_in_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is empty"):
        read_file(put(tmp_path, b""))


@given(content=st.binary(min_size=1, max_size=2000))
@IN_ANY_CASE
def test_anything_at_all(tmp_path: Path, content: bytes) -> None:
    survives(put(tmp_path, content))


@pytest.mark.parametrize("text", ["x", "1 ", "a b, ", " ", "\n", "a=1 ", "12:00:00 ", "/a", '"a": {'])
def test_a_long_line_is_looked_at_once(tmp_path: Path, text: str) -> None:
    with opened(put(tmp_path, (text * 2**16).encode())) as source:
        head = source.head
    began_s = time.process_time()
    for known in formats():
        known.sniff(head)
    assert time.process_time() - began_s < 5, "half a minute, where the time grows with the square of the length"


def test_every_format_has_a_sample() -> None:
    """Named like its module: `awr.html`, `sar_text.solaris.txt`."""
    # A mapping names the CSV beside it; binary files that need sadf or PCP's tools are recorded by their own tests.
    without = {"csv_mapping", "sa_binary", "pcp"}
    sampled = {sample.name.partition(".")[0] for sample in SAMPLES}
    modules = {str(vars(known)["__name__"]).rpartition(".")[2] for known in formats()}
    assert modules - sampled <= without


def test_every_sample_says_where_it_comes_from() -> None:
    told = [line.split("`")[1] for line in PROVENANCE.read_text().splitlines() if line.startswith("| `")]
    assert told == [sample.name for sample in SAMPLES]
