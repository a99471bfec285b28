"""JSON of iostat, mpstat and pidstat: the rows that their text gives."""

import json
from datetime import UTC, datetime

import pytest

from doctord.errors import UserError
from doctord.read.formats import Reading, read_file, read_source
from doctord.read.sysstat import sadf_json, tool_json
from reading import SAMPLES, figure, frame, picked, read_sample
from shared import CORPUS, sample
from sources import text_source


def read_text(text: str) -> Reading:
    reading = read_source(text_source(text))
    assert reading.format == tool_json.NAME
    return reading


def test_pidstat() -> None:
    reading = read_sample("tool_json.pidstat.json")
    columns = ("ts", "interval_s", "host", "pid", "command", "usr_pct", "run_wait_pct", "rss_bytes", "read_bytes_per_s")
    at = [datetime(2026, 11, 21, 12, 53, second, tzinfo=UTC) for second in (20, 30)]
    assert picked(reading, "process", *columns) == [
        (at[0], None, "db1", 8407, "postgres", 12.0, 3.0, 42156 * 1024, 8192.0),
        (at[1], 10.0, "db1", 8407, "postgres", 10.0, 2.0, None, None),
    ]
    assert picked(reading, "process", "write_bytes_per_s")[0] == (None,)
    assert figure(reading, "pidstat.thread.%usr", entity="8408 ioworker") == [2.0]


def test_mpstat() -> None:
    reading = read_sample("tool_json.mpstat.json")
    measured = json.loads((SAMPLES / "tool_json.mpstat.json").read_text())["sysstat"]["hosts"][0]["statistics"]
    for which, cpu in (("all", None), ("0", 0), ("1", 1)):
        wanted = []
        for moment in measured:
            load = next(line for line in moment["cpu-load"] if line["cpu"] == which)
            interrupts = next(line["intr"] for line in moment["sum-interrupts"] if line["cpu"] == which)
            wanted.append((load["sys"], load["idle"], interrupts))
        assert picked(reading, "cpu", "sys_pct", "idle_pct", "interrupts_per_s", cpu=cpu) == wanted


def test_mpstat_by_interrupt_and_node() -> None:
    reading = read_sample("tool_json.mpstat.json")
    measured = json.loads((SAMPLES / "tool_json.mpstat.json").read_text())["sysstat"]["hosts"][0]["statistics"]
    timers = [
        one["value"] for moment in measured for one in moment["soft-interrupts"][1]["intr"] if one["name"] == "TIMER"
    ]
    assert figure(reading, "mpstat.softirq", entity="1 TIMER") == [per_s for per_s in timers if per_s]
    assert figure(reading, "mpstat.%idle", entity="node 0") == [moment["node-load"][1]["idle"] for moment in measured]


def test_mpstat_with_the_place_of_each_cpu() -> None:
    """What `mpstat -T` adds says nothing of the figures."""
    text = (SAMPLES / "tool_json.mpstat.json").read_text()
    placed = text.replace('{"cpu": "0",', '{"cpu": "0", "core": "0", "socket": "0", "node": "0",')
    placed = placed.replace('{"cpu": "all",', '{"cpu": "all", "core": "", "socket": "", "node": "",')
    assert frame(read_text(placed), "cpu").equals(frame(read_text(text), "cpu"))


def test_iostat() -> None:
    reading = read_sample("tool_json.iostat.json")
    measured = json.loads((SAMPLES / "tool_json.iostat.json").read_text())["sysstat"]["hosts"][0]["statistics"][1:]
    shown = frame(reading, "disk").filter(frame(reading, "disk")["device"] == "vda")
    disks = [next(d for d in moment["disk"] if d["disk_device"] == "vda") for moment in measured]
    assert shown["write_bytes_per_s"].to_list() == [disk["wkB/s"] * 1024 for disk in disks]
    assert shown["util_pct"].to_list() == [disk["util"] for disk in disks]
    assert shown["interval_s"].to_list() == [1.0, 1.0]


def test_the_corpus() -> None:
    reading = read_file(sample(CORPUS / "testbed" / "iostat.json"))
    assert (reading.format, reading.skipped_lines) == (tool_json.NAME, 0)
    measured = json.loads((CORPUS / "testbed" / "iostat.json").read_text())["sysstat"]["hosts"][0]["statistics"][1:]
    assert len(frame(reading, "disk")) == sum(len(moment["disk"]) for moment in measured)
    written = [disk["wkB/s"] * 1024 for moment in measured for disk in moment["disk"]]
    assert frame(reading, "disk")["write_bytes_per_s"].sum() == pytest.approx(sum(written))


def test_what_is_complete_of_a_file_that_is_cut() -> None:
    whole = (SAMPLES / "tool_json.pidstat.json").read_text()
    reading = read_text(whole[: whole.rindex('"usr"')])
    assert (reading.skipped_lines, len(frame(reading, "process"))) == (1, 1)


def test_nesting_without_end() -> None:
    whole = (SAMPLES / "tool_json.pidstat.json").read_text()
    reading = read_text(whole[: whole.rindex("{")] + "[" * 200_000)
    assert reading.skipped_lines == 1


def test_what_holds_nothing_is_refused() -> None:
    text = '{"sysstat": {"hosts": [{"nodename": "a", "statistics": [1, {"cpu-load": 7}, {"disk_device": []}]}]}}'
    with pytest.raises(UserError, match="nothing in it can be used"):
        read_text(text)


def test_of_others() -> None:
    archive = (SAMPLES / "sadf_json.json").read_text()
    assert not tool_json.sniff(archive)
    assert not sadf_json.sniff((SAMPLES / "tool_json.mpstat.json").read_text())
