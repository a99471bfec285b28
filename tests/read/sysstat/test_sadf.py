"""What sadf prints: the same rows as sar's text of the same recording, whichever form it has."""

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from doctord.errors import UserError
from doctord.read.formats import Reading, read_file, read_source
from doctord.read.source import ReadOptions
from doctord.read.sysstat import sadf_json, sadf_lines, sadf_xml
from reading import SAMPLES, frame, picked, read_sample
from same_rows import differences
from sources import text_source

TABLES = ("cpu", "memory", "disk", "network", "filesystem", "statistic", "event")
LINES = "# hostname;interval;timestamp;proc/s;cswch/s\n"


@pytest.mark.parametrize("form", ["sadf_json.json", "sadf_lines.d.txt", "sadf_lines.p.txt", "sadf_xml.xml"])
def test_every_form_has_the_rows_of_sars_text(form: str) -> None:
    text, other = read_sample("sar_text.linux.txt"), read_sample(form)
    assert (other.skipped_lines, other.notes) == (0, [])
    assert not differences(text, other)
    assert all(len(frame(text, table)) for table in TABLES[:-1])


def lines(*rows: str) -> Reading:
    return read_source(text_source(LINES + "".join(f"{row}\n" for row in rows)))


def test_restarts_and_comments() -> None:
    reading = lines(
        "db1;-1;2026-11-20 08:15:00 UTC;LINUX-RESTART\t(8 CPU)",
        "db1;600;2026-11-20 08:30:00 UTC;1.50;20.00",
        "db1;-1;2026-11-20 08:31:00 UTC;COM note",
    )
    assert [text for (text,) in picked(reading, "event", "text")] == ["LINUX RESTART (8 CPU)", "COM note"]
    assert picked(reading, "cpu", "ts", "interval_s", "host", "forks_per_s") == [
        (datetime(2026, 11, 20, 8, 30, tzinfo=UTC), 600.0, "db1", 1.5)
    ]


@pytest.mark.parametrize(
    ("stamp", "zone", "hour"),
    [("1795159800", None, 7), ("2026-11-20 08:30:00", "Europe/Paris", 7), ("2026-11-20 08:30:00", None, 8)],
)
def test_times(stamp: str, zone: str | None, hour: int) -> None:
    options = ReadOptions(zone=ZoneInfo(zone) if zone else None)
    reading = read_source(text_source(f"{LINES}db1;600;{stamp};1.50;20.00\n", options=options))
    assert picked(reading, "cpu", "ts") == [(datetime(2026, 11, 20, hour, 30, tzinfo=UTC),)]
    assert any("time zone" in note for note in reading.notes) == (" " in stamp and zone is None)


def test_a_line_that_does_not_fit_is_skipped() -> None:
    when = "db1;600;2026-11-20 08"
    reading = lines(
        f"{when}:30:00 UTC;1.5", f"{when}:40:00 UTC;1.5;x", "db1;600;never;1;2", "?", f"{when}:50:00 UTC;1.5;2"
    )
    assert (reading.skipped_lines, len(frame(reading, "cpu"))) == (4, 1)


def test_a_line_that_is_cut_off_is_skipped() -> None:
    text = f"{LINES}db1;600;2026-11-20 08:30:00 UTC;1.50;20.00\ndb1;600;2026-11-20 08:40:00 UTC;1.50;20.0"
    reading = read_source(text_source(text))
    assert (reading.skipped_lines, len(frame(reading, "cpu"))) == (1, 1)


def test_one_line_for_everything_is_refused() -> None:
    text = "# hostname;interval;timestamp;CPU;%user[...];proc/s;cswch/s\ndb1;600;2026-11-20 08:30:00 UTC;-1;1.0;1;2\n"
    with pytest.raises(UserError, match="-h puts all into one line"):
        read_source(text_source(text))


def test_json_of_an_older_sadf() -> None:
    """Names that changed since: interrupts with `value`, average sizes in sectors, the restart's time."""
    stamp = {"date": "2016-11-20", "time": "08:30:00", "utc": 1, "interval": 600}
    disk = {"disk-device": "sda", "tps": 3.0, "rd_sec": 8.0, "wr_sec": 16.0, "avgrq-sz": 8.0, "avgqu-sz": 0.5}
    disk |= {"await": 7.0, "svctm": 1.0, "util-percent": 0.3}
    moment = {
        "timestamp": stamp,
        "cpu-load": [{"cpu": "all", "user": 1.5, "nice": 0.5, "system": 2.0, "iowait": 1.0, "idle": 95.0}],
        "interrupts": [{"intr": "sum", "value": 900.0}, {"intr": "0", "value": 0.0}],
        "io": {"tps": 3.0, "io-reads": {"rtps": 1.0, "bread": 8.0}, "io-writes": {"wtps": 2.0, "bwrtn": 16.0}},
        "disk": [disk],
    }
    boots = [{"boot": {"date": "2016-11-20", "time": "08:00:00", "utc": 1}}]
    host = {"nodename": "old", "statistics": [moment], "restarts": boots}
    reading = read_source(text_source(json.dumps({"sysstat": {"hosts": [host]}})))
    assert reading.format == sadf_json.NAME
    assert picked(reading, "cpu", "host", "usr_pct", "sys_pct", "interrupts_per_s") == [("old", 2.0, 2.0, 900.0)]
    columns = ("requests_per_s", "read_bytes_per_s", "write_bytes_per_s", "queue", "request_ms", "util_pct")
    assert picked(reading, "disk", *columns) == [(3.0, 8 * 512.0, 16 * 512.0, 0.5, 7.0, 0.3)]
    assert picked(reading, "statistic", "value", name="sar.wtps") == [(2.0,)]
    assert picked(reading, "event", "ts", "text") == [(datetime(2016, 11, 20, 8, tzinfo=UTC), "LINUX RESTART")]


def test_json_in_one_line_and_in_pieces() -> None:
    """However the text is laid out, and wherever a piece of it ends."""
    whole = (SAMPLES / "sadf_json.json").read_text()
    dense = read_source(text_source(json.dumps(json.loads(whole))))
    assert not differences(read_sample("sadf_json.json"), dense)


def test_json_that_ends_early_keeps_what_is_complete() -> None:
    whole = (SAMPLES / "sadf_json.json").read_text()
    reading = read_source(text_source(whole[: len(whole) * 2 // 3]))
    assert reading.skipped_lines == 1
    assert 0 < len(frame(reading, "cpu")) < len(frame(read_sample("sadf_json.json"), "cpu")) + 1


def test_json_that_is_none_from_a_point_on() -> None:
    whole = (SAMPLES / "sadf_json.json").read_text()
    middle = len(whole) // 2
    reading = read_source(text_source(whole[:middle] + "]}]<<" + whole[middle:]))
    assert [skipped.reason for skipped in reading.skipped] == ["no JSON from here on"]


def test_of_others() -> None:
    assert not sadf_json.sniff('{"sysstat": {"hosts": [{"nodename": "vm", "statistics": [{"avg-cpu": {}')
    assert not sadf_lines.sniff("host;1;2;3\n")


def test_lines_of_windows(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes((SAMPLES / "sadf_lines.d.txt").read_bytes().replace(b"\n", b"\r\n"))
    assert not differences(read_file(file), read_sample("sadf_lines.d.txt"))


def test_a_figure_of_the_host_that_names_a_device_is_skipped() -> None:
    """What is left of `sadf -p` where a byte of it was changed."""
    when = "db1\t600\t2026-11-20 08:30:00 UTC"
    text = f"{when}\t\0\tpgpgin/s\t1.00\n{when}\t\0\tproc/s\t1.00\n{when}\t-\tproc/s\t2.00\n"
    reading = read_source(text_source(text))
    assert reading.skipped_lines > 0
    assert picked(reading, "cpu", "cpu", "forks_per_s") == [(None, 2.0)]


MOMENT = '<timestamp date="2026-11-20" time="08:30:00" utc="1" interval="600">'
XML = f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE sysstat PUBLIC "DTD v2.20 sysstat //EN"
"http://pagesperso-orange.fr/sebastien.godard/sysstat-2.20.dtd">
<sysstat>
<host nodename="db&amp;1">
<statistics>
{MOMENT}
<process-and-context-switch per="second" proc="1.50" cswch="20.00"/>
<memory per="second" unit="kB"><memfree>1024</memfree><avail>2048</avail></memory>
<interrupts><int-global per="second"><irq intr="sum" value="7.00"/></int-global></interrupts>
</timestamp>
</statistics>
<restarts>
<boot date="2026-11-20" time="08:15:00" utc="1" cpu_count="8"/>
</restarts>
<comments><comment date="2026-11-20" time="08:31:00" utc="1" com="a note"/></comments>
</host>
</sysstat>
"""


def test_xml_of_an_old_version_with_a_restart_and_a_comment() -> None:
    reading = read_source(text_source(XML))
    assert (reading.format, reading.skipped_lines, reading.notes) == (sadf_xml.NAME, 0, [])
    assert picked(reading, "cpu", "ts", "interval_s", "host", "forks_per_s") == [
        (datetime(2026, 11, 20, 8, 30, tzinfo=UTC), 600.0, "db&1", 1.5)
    ]
    assert picked(reading, "memory", "free_bytes", "available_bytes") == [(1024 * 1024, 2048 * 1024)]
    assert [text for (text,) in picked(reading, "event", "text")] == ["LINUX RESTART (8 CPU)", "COM a note"]


def test_xml_that_is_cut_keeps_what_is_whole_and_noise_is_named() -> None:
    cut = XML[: XML.index("<interrupts>")].replace("</statistics>", "")
    reading = read_source(text_source(cut + "what is this\n"))
    assert picked(reading, "cpu", "forks_per_s") == [(1.5,)]
    assert [(one.line, one.reason) for one in reading.skipped] == [(10, "no element of sadf's XML")]
