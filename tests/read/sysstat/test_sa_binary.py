"""Binary files of sadc, read through the sadf of this machine; made here, and compared with what sar says of them."""

import gzip
import shutil
import subprocess
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.formats import Reading, read_file, read_source
from doctord.read.sysstat import sa_binary, sadf_xml
from doctord.read.sysstat.sa_binary import written_by
from reading import frame
from same_rows import differences
from shared import CORPUS, sample
from sources import text_source

SADC = Path("/usr/lib/sysstat/sadc")
IN_UTC = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}
needs_sysstat = pytest.mark.skipif(not (shutil.which("sadf") and SADC.exists()), reason="sysstat is not installed")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("sysstat") / "sa"
    subprocess.run([SADC, "-C", "a comment", file], check=True)
    subprocess.run([SADC, "-S", "XALL", "1", "3", file], check=True)
    return file


def text_of(file: Path) -> Reading:
    printed = subprocess.run(["sar", "-A", "-C", "-f", file], check=True, capture_output=True, text=True, env=IN_UTC)
    return read_source(text_source(printed.stdout))


@pytest.mark.slow
@needs_sysstat
def test_sar_says_the_same_of_it(recorded: Path) -> None:
    reading = read_file(recorded)
    assert (reading.format, reading.skipped_lines, reading.notes) == (sa_binary.NAME, 0, [])
    assert not differences(text_of(recorded), reading)
    assert len(frame(reading, "memory")) == 2


@pytest.mark.slow
@needs_sysstat
def test_xml_says_what_json_says_of_it(recorded: Path, tmp_path: Path) -> None:
    for switch in ("-x", "-j"):
        printed = subprocess.run(["sadf", switch, recorded, "--", "-A", "-C"], check=True, capture_output=True)
        (tmp_path / switch).write_bytes(printed.stdout)
    xml, other = read_file(tmp_path / "-x"), read_file(tmp_path / "-j")
    assert (xml.format, xml.skipped_lines, xml.notes) == (sadf_xml.NAME, 0, [])
    assert not differences(other, xml)


@needs_sysstat
def test_text_and_binary_of_the_corpus_hold_the_same_rows() -> None:
    text = read_file(sample(CORPUS / "testbed" / "sa_1s_60.sarA.txt"))
    binary = read_file(sample(CORPUS / "testbed" / "sa_1s_60.bin"))
    assert not differences(text, binary)
    assert len(frame(binary, "cpu")) == 183


@needs_sysstat
def test_packed_and_renamed(recorded: Path, tmp_path: Path) -> None:
    packed = tmp_path / "-A.log"
    packed.write_bytes(gzip.compress(recorded.read_bytes()))
    assert not differences(read_file(recorded), read_file(packed))


@needs_sysstat
@pytest.mark.parametrize("tenths", range(1, 10))
def test_cut_short(recorded: Path, tmp_path: Path, tenths: int) -> None:
    """What sadf can read of it comes out, with what sadf says; else a refusal names the file."""
    content = recorded.read_bytes()
    cut = tmp_path / "cut"
    cut.write_bytes(content[: len(content) * tenths // 10])
    try:
        reading = read_file(cut)
    except UserError as refusal:
        assert str(cut) in str(refusal)  # noqa: PT017 - either is right
    else:
        assert reading.notes == ["sadf: End of system activity file unexpected"]


@needs_sysstat
def test_of_a_version_that_sadf_does_not_know(recorded: Path, tmp_path: Path) -> None:
    content = bytearray(recorded.read_bytes())
    content[2] = 0x3F
    other = tmp_path / "other"
    other.write_bytes(content)
    with pytest.raises(UserError, match=r"sadf cannot read it \(.*\), nor convert it \(sadf -c: .+\)") as caught:
        read_file(other)
    version, order = written_by(content[:8].decode("latin-1"))
    assert f"written by sysstat {version} on a {order} machine" in str(caught.value)
    assert f"with sysstat {version}" in caught.value.hint
    assert "sadf -j FILE -- -A" in caught.value.hint


@pytest.mark.parametrize(
    ("head", "version", "order"),
    [
        ("\x96\xd5\x71\x21\x0a\x01\x05\x00", "10.1.5", "little-endian"),
        ("\xd5\x96\x21\x75\x0c\x06\x01\x00", "12.6.1", "big-endian"),
        ("\x96\xd5\x6f\x21\x00\x00\x00\x00", "before 9.1.6", "little-endian"),
    ],
)
def test_who_wrote_it_is_told(head: str, version: str, order: str) -> None:
    assert written_by(head) == (version, order)


def test_without_sysstat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sa15"
    file.write_bytes(b"\x96\xd5\x75\x21" + bytes(100))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="there is no sadf here") as caught:
        read_file(file)
    assert "install the package sysstat" in caught.value.hint
