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


def test_control_units_by_unique_ids() -> None:
    reading = read_sample("lsdasd.u.txt")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    for unit, volumes, aliases in (("IBM.750000000BH411.d300", 2.0, 1.0), ("IBM.750000000BH411.d400", 1.0, 0.0)):
        assert figure(reading, "dasd.volumes", entity=unit) == [volumes]
        assert figure(reading, "dasd.aliases", entity=unit) == [aliases]


def test_short_ids_thin_volumes_and_what_is_offline(tmp_path: Path) -> None:
    text = (SAMPLES / "lsdasd.txt").read_text().replace("0.0.", "").replace("ECKD  4096   7", "ECKD (ESE)   4096   7")
    (tmp_path / "file").write_text(f"{text}0160      offline\n")
    reading = read_file(tmp_path / "file")
    assert reading.skipped_lines == 0
    assert figure(reading, "lsdasd.size", entity="dasda") == [7043 * 2.0**20]


def test_what_is_no_device_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text((SAMPLES / "lsdasd.txt").read_text() + "what is this\n")
    reading = read_file(tmp_path / "file")
    assert [(one.line, one.reason) for one in reading.skipped] == [(8, "no DASD")]
