"""No encoding, full disk or closed pipe ends in a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from doctord.dataset.rows import rows
from doctord.lake.writer import LakeWriter

pytestmark = pytest.mark.slow

DOCTORD = Path(sys.executable).with_name("doctord")


@pytest.fixture(scope="module")
def conf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Settings against which something is said, in words that Latin-1 does not have."""
    path = tmp_path_factory.mktemp("streams") / "postgresql.conf"
    path.write_text("fsync = off\nwork_mem = '1TB'\ncluster_name = 'дом'\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_what_an_encoding_cannot_say_is_replaced(conf: Path, encoding: str) -> None:
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    run = [DOCTORD, "lint", conf, "--json"]
    told = subprocess.run(run, capture_output=True, env=environment, timeout=120, check=False)
    assert told.returncode == 1
    assert b"Traceback" not in told.stderr
    assert b"fsync" in told.stdout


def test_words_of_a_query_too(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    run = [DOCTORD, "sql", "--lake", tmp_path / "дом", "select 'дом'"]
    told = subprocess.run(run, capture_output=True, env=environment, timeout=120, check=False)
    assert told.returncode == 2
    assert b"Traceback" not in told.stderr
    assert b"no lake here\nhint: " in told.stderr


def test_what_libraries_say_as_they_end_stays_away(tmp_path: Path) -> None:
    with LakeWriter(tmp_path / "lake") as writer:
        writer.append(rows("cpu", [{"ts": 1_000_000, "host": "h", "usr_pct": 12.5}]))
    run = [DOCTORD, "sql", "--lake", tmp_path / "lake", "select usr_pct from cpu", "--csv"]
    told = subprocess.run(run, capture_output=True, timeout=120, check=False)
    assert (told.returncode, told.stdout, told.stderr) == (0, b"usr_pct\n12.5\n", b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux'")
def test_a_full_disk_is_said(conf: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        told = subprocess.run([DOCTORD, "lint", conf], stdout=full, stderr=subprocess.PIPE, timeout=120, check=False)
    assert told.returncode == 2
    assert told.stderr.decode().endswith(
        "doctord: standard output cannot be written: No space left on device\n"
        "hint: give it a file on a disk with room\n"
    )


def test_who_reads_no_further_has_read_enough(conf: Path) -> None:
    with subprocess.Popen([DOCTORD, "lint", conf], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as told:
        assert told.stdout
        assert told.stderr
        told.stdout.close()
        assert told.stderr.read() == b""
        assert told.wait(60) == 1
