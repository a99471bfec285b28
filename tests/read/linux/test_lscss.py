"""lscss: devices on subchannels, and how many DASDs are in use."""

from pathlib import Path

import pytest

from doctord.read.formats import read_file
from doctord.read.linux.lscss import NAME
from reading import SAMPLES, figure, picked, read_sample


def test_devices_and_dasds() -> None:
    reading = read_sample("lscss.txt")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    settings = dict(picked(reading, "setting", "name", "value", component="subchannel"))
    assert settings["0.0.0150.devtype"] == "3390/0c"
    assert settings["0.0.0150.cutype"] == "3990/e9"
    assert settings["0.0.0150.chpids"] == "32333a3b 00000000"
    assert (settings["0.0.0150.use"], settings["0.0.0153.use"], settings["0.0.0160.use"]) == ("yes", "no", "no")
    assert figure(reading, "lscss.dasds") == [5.0], "neither what is offline, nor other devices"


@pytest.mark.parametrize("option", ["-s", "-u", "--vpm", "--avail", "-a"])
def test_options(option: str, tmp_path: Path) -> None:
    text = (SAMPLES / "lscss.txt").read_text()
    changed = {
        "-s": text.replace("0.0.", ""),
        "-u": text.replace("0c 3990/e9 yes", "0C 3990/E9 YES"),
        "--vpm": text.replace("POM  CHPIDs", "POM VPM CHPIDs").replace("ff   ", "ff  f0  "),
        "--avail": text.replace("CHPIDs", "CHPIDs            Avail.").replace("00000000\n", "00000000  good\n"),
        "-a": f"IO Subchannels and Devices:\n{text}\nCHSC Subchannels:\nDevice   Subchan.\n------------------\n"
        "n/a      0.0.fe00\n\nEADM Subchannels:\nDevice   Subchan.\n------------------\nn/a      0.0.ff00\n",
    }[option]
    (tmp_path / "file").write_text(changed)
    reading = read_file(tmp_path / "file")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    assert figure(reading, "lscss.dasds") == [5.0]


def test_what_is_no_subchannel_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text((SAMPLES / "lscss.txt").read_text() + "what is this\n")
    reading = read_file(tmp_path / "file")
    assert [(one.line, one.reason) for one in reading.skipped] == [(13, "no subchannel")]
