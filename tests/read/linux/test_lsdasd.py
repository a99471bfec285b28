"""lsdasd: DASDs with their sizes, and how many aliases."""

from pathlib import Path

from doctord.read.formats import read_file
from doctord.read.linux.lsdasd import NAME
from reading import SAMPLES, figure, picked, read_sample


def test_devices_and_aliases() -> None:
    reading = read_sample("lsdasd.txt")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    settings = dict(picked(reading, "setting", "name", "value", component="dasd"))
    assert settings["dasda.type"] == "ECKD"
    assert settings["dasda.block_size"] == "4096"
    assert settings["dasdb.status"] == "active(ro)"
    assert "dasdc.block_size" not in settings
    assert figure(reading, "lsdasd.size", entity="dasda") == [7043 * 2.0**20]
    assert figure(reading, "lsdasd.aliases") == [2.0]


def test_what_is_no_device_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text((SAMPLES / "lsdasd.txt").read_text() + "what is this\n")
    reading = read_file(tmp_path / "file")
    assert [(one.line, one.reason) for one in reading.skipped] == [(8, "no DASD")]
