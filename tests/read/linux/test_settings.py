"""Settings of hosts: multipath.conf, sysctl, lscpu."""

import json
import subprocess
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.formats import Reading, read_file
from latency_files import read_text
from reading import SAMPLES, frame, picked, read_sample
from shared import CASEBOOK, CORPUS, sample


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


def test_multipath_leaves_a_whole_vendor_alone(tmp_path: Path) -> None:
    reading = read_text(tmp_path, 'defaults {\n rr_min_io 1\n}\nblacklist {\n device {\n  vendor "ACME"\n }\n}\n')
    assert picked(reading, "setting", "value", "line", name="blacklist.ACME") == [("device", 6)]


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
    assert [(skipped.line, skipped.reason) for skipped in reading.skipped] == [
        (3, "no keyword with its value"),
        (1, "the block defaults is not closed"),
    ]


def test_sysctl() -> None:
    reading = read_sample("sysctl.etc.conf")
    assert (reading.format, reading.skipped_lines) == ("sysctl", 0)
    assert settings(reading) == {
        "vm.swappiness": "1",
        "kernel.sem": "250 32000 100 128",
        "net.core.somaxconn": "4096",
    }
    assert len(settings(read_sample("sysctl.a.txt"))) == len((SAMPLES / "sysctl.a.txt").read_text().splitlines())


def test_mounts_as_they_are_and_as_they_are_to_be() -> None:
    wished, are = read_sample("mounts.fstab"), read_sample("mounts.proc.txt")
    assert settings(wished)["/var/lib/postgresql.options"] == "defaults,noatime,nobarrier"
    assert settings(wished)["/back up.type"] == "nfs"
    assert "none.type" not in settings(wished)
    assert {row[0] for row in picked(wished, "setting", "source")} == {"file"}
    assert settings(are)["/var/lib/postgresql.device"] == "/dev/mapper/vg-data"
    assert {row[0] for row in picked(are, "setting", "source")} == {"kernel"}
    assert settings(read_sample("mounts.mount.txt"))["/u01.options"] == "rw,noatime,barrier=0,data=journal"


def test_limits_of_users() -> None:
    assert settings(read_sample("limits.conf")) == {
        "oracle.soft.nofile": "1024",
        "oracle.hard.nofile": "65536",
        "oracle.soft.memlock": "6291456",
        "oracle.hard.memlock": "6291456",
        "@dba.soft.core": "unlimited",
        "postgres.soft.nproc": "4096",
    }
    assert picked(read_sample("limits.conf"), "setting", "unit", name="oracle.soft.memlock") == [("kB",)]


def test_a_unit_keeps_limits_and_no_secret() -> None:
    assert settings(read_sample("systemd.service")) == {
        "systemd.service.Type": "notify",
        "systemd.service.User": "postgres",
        "systemd.service.LimitMEMLOCK": "64M",
        "systemd.service.MemoryMax": "2G",
        "systemd.service.TimeoutStopSec": "10s",
        "systemd.service.OOMScoreAdjust": "-900",
    }


def test_a_drop_in_is_of_its_folders_unit(tmp_path: Path) -> None:
    folder = tmp_path / "mariadb.service.d"
    folder.mkdir()
    (folder / "limits.conf").write_text("[Service]\nLimitNOFILE=65536\n", encoding="utf-8")
    assert settings(read_file(folder / "limits.conf")) == {"mariadb.service.LimitNOFILE": "65536"}


def test_rules_of_udev_about_queues() -> None:
    assert settings(read_sample("udev.rules")) == {
        "sd[a-z].scheduler": "none",
        "dm-*.read_ahead_kb": "256",
        "nvme0n1.read_ahead_kb": "256",
    }


def test_a_setting_twice(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "vm.swappiness = 60\nvm.swappiness = 1\nsysctl: permission denied on key 'x'\n")
    assert settings(reading) == {"vm.swappiness": "1"}
    assert "vm.swappiness is set more than once: the last value counts" in reading.notes
    assert len(reading.notes) == 2


def test_lscpu_as_text_and_json() -> None:
    text, document = settings(read_sample("lscpu.x86.txt")), settings(read_sample("lscpu.x86.json"))
    assert text["lscpu.CPU(s)"] == document["lscpu.CPU(s)"] == "2"
    assert text["lscpu.Model name"] == document["lscpu.Model name"]
    assert document["lscpu.NUMA node(s)"] == "1"


def test_this_machine(tmp_path: Path) -> None:
    for options in ((), ("-J",)):
        printed = subprocess.run(["lscpu", *options], check=True, capture_output=True, timeout=180).stdout
        reading = read_text(tmp_path, printed)
        assert reading.skipped_lines == 0
        assert int(settings(reading)["lscpu.CPU(s)"]) > 0
        assert "lscpu.Flags" not in settings(reading)


def test_half_a_document_is_refused(tmp_path: Path) -> None:
    text = json.dumps({"lscpu": [{"field": "Architecture:", "data": "x86_64"}]})
    with pytest.raises(UserError, match="not the whole JSON of lscpu"):
        read_text(tmp_path, text[:-2])
