"""Settings of hosts: multipath.conf, sysctl, lscpu."""

import json
import subprocess
from pathlib import Path

import pytest

from doctord.errors import Refusal
from doctord.read.formats import Reading, read_file
from latency_files import CASEBOOK, CORPUS, read_text, sample
from reading import SAMPLES, frame, picked, read_sample


def settings(reading: Reading) -> dict[str, str]:
    return dict(picked(reading, "setting", "name", "value"))


def test_multipath() -> None:
    reading = read_sample("multipath.conf")
    assert (reading.format, reading.skipped_lines) == ("multipath.conf", 0)
    assert set(frame(reading, "setting")["component"]) == {"multipath"}
    assert settings(reading) == {
        "defaults.user_friendly_names": "yes",
        "defaults.rr_min_io_rq": "1",
        "defaults.path_grouping_policy": "multibus",
        "blacklist.devnode": "^(ram|loop|fd)[0-9]*, ^hd[a-z]",
        "blacklist.ACME.TOY#1": "device",
        "devices.IBM.2145.rr_min_io": "1000",
        "devices.IBM.2145.no_path_retry": "fail",
        "devices.S/390.*.rr_min_io": "1",
        "multipaths.redo.wwid": "3600508b4000156d700012000000b0000",
        "multipaths.redo.rr_weight": "priorities",
        "multipaths.1DEC_____321816758474.failback": "manual",
    }
    assert picked(reading, "setting", "line", name="devices.IBM.2145.rr_min_io") == [(19,)]


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        (CORPUS / "config/jfbaeta_template_multipath_ibm_2145.txt", "devices.IBM.2145.rr_min_io_rq", "32"),
        (CORPUS / "config/megacoder_multipath.conf", "defaults.rr_min_io", "100"),
        (CORPUS / "config/megacoder_multipath.conf", "multipaths.yellow.path_selector", "round-robin 0"),
        (CASEBOOK / "consolidation/multipath.conf", "devices.S/390.*.rr_min_io", "1"),
        (CASEBOOK / "consolidation/multipath.conf", "devices.S/390.*.path_grouping_policy", "multibus"),
    ],
)
def test_real_files(path: Path, name: str, value: str) -> None:
    reading = read_file(sample(path))
    assert reading.skipped_lines == 0
    assert settings(reading)[name] == value


def test_a_block_that_is_not_closed_is_said(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "defaults {\n  rr_min_io 1\n  nonsense\n")
    assert settings(reading) == {"defaults.rr_min_io": "1"}
    assert "the block defaults is not closed" in reading.notes
    assert [skipped.line for skipped in reading.skipped] == [3]


def test_sysctl() -> None:
    reading = read_sample("sysctl.etc.conf")
    assert (reading.format, reading.skipped_lines) == ("sysctl", 0)
    assert settings(reading) == {
        "vm.swappiness": "1",
        "kernel.sem": "250 32000 100 128",
        "net.core.somaxconn": "4096",
    }
    assert len(settings(read_sample("sysctl.a.txt"))) == len((SAMPLES / "sysctl.a.txt").read_text().splitlines())


def test_a_setting_twice(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "vm.swappiness = 60\nvm.swappiness = 1\nsysctl: permission denied on key 'x'\n")
    assert settings(reading) == {"vm.swappiness": "1"}
    assert "vm.swappiness is set more than once: the last value counts" in reading.notes
    assert len(reading.notes) == 3


def test_lscpu_as_text_and_json() -> None:
    text, document = settings(read_sample("lscpu.x86.txt")), settings(read_sample("lscpu.x86.json"))
    assert text["lscpu.CPU(s)"] == document["lscpu.CPU(s)"] == "2"
    assert text["lscpu.Model name"] == document["lscpu.Model name"]
    assert document["lscpu.NUMA node(s)"] == "1"


def test_this_machine(tmp_path: Path) -> None:
    for options in ((), ("-J",)):
        printed = subprocess.run(["lscpu", *options], check=True, capture_output=True, timeout=10).stdout
        reading = read_text(tmp_path, printed)
        assert reading.skipped_lines == 0
        assert int(settings(reading)["lscpu.CPU(s)"]) > 0
        assert "lscpu.Flags" not in settings(reading)


def test_half_a_document_is_refused(tmp_path: Path) -> None:
    text = json.dumps({"lscpu": [{"field": "Architecture:", "data": "x86_64"}]})
    with pytest.raises(Refusal, match="not the whole JSON of lscpu"):
        read_text(tmp_path, text[:-2])
