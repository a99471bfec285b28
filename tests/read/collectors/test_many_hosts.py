"""What a command printed on many hosts at once."""

from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.collectors.many_hosts import NAME
from doctord.read.formats import read_file
from reading import frame, picked, read_sample


def test_each_line_begins_with_its_host() -> None:
    reading = read_sample("many_hosts.pdsh.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    last = frame(reading, "disk").filter(frame(reading, "disk")["util_pct"] > 1)
    assert sorted(last.select("host", "reads_per_s", "util_pct").rows()) == [("db1", 100.0, 4.3), ("db2", 200.0, 99.3)]
    assert str(last["ts"][0]) == "2024-05-30 10:00:20+00:00"


def test_ansible_s_hosts_have_their_lines_below_them() -> None:
    reading = read_sample("many_hosts.ansible.txt")
    assert reading.skipped_lines == 0
    assert sorted(picked(reading, "cpu", "host", "usr_pct")) == [("web1", 93.0), ("web2", 4.0)]
    assert any(note.startswith("web1: ") for note in reading.notes), "what is said of a host names it"


def test_hosts_of_one_text_between_rulers() -> None:
    reading = read_sample("many_hosts.clush.txt")
    assert sorted(picked(reading, "memory", "host", "total_bytes")) == [
        ("node3", 32000000 << 10),
        ("node[1-2] (2)", 16000000 << 10),
    ]


def test_a_host_without_a_format_is_named(tmp_path: Path) -> None:
    lines = (Path(__file__).parents[1] / "samples" / "many_hosts.pdsh.txt").read_text()
    (tmp_path / "file").write_text(lines + "db3: ssh: connect to host db3 port 22\n" * 3)
    assert "db3: no format that Doctor D reads" in read_file(tmp_path / "file", zone="UTC").notes


def test_words_with_a_colon_are_no_hosts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("WARNING: a\nWARNING: b\nERROR: c\nWARNING: d\nERROR: e\nERROR: f\n")
    with pytest.raises(UserError, match="no format"):
        read_file(tmp_path / "file")
