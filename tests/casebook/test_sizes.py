"""The casebook's rules of size, from its files: `doctord size` reproduces their arithmetic to the digit."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from doctord import cli
from shared import CASEBOOK, needs_casebook

pytestmark = needs_casebook


def size(*arguments: str | Path) -> dict[str, Any]:
    """The document of `doctord size ... --json`, its steps and figures by name."""
    cli.load()
    outcome = CliRunner().invoke(cli.app, ["size", *map(str, arguments), "--json"])
    assert outcome.exit_code in (0, 1), outcome.output
    document: dict[str, Any] = json.loads(outcome.stdout)
    document["by_name"] = {one["name"]: one["value"] for one in [*document["given"], *document["steps"]]}
    return document


def cell(file: str, key: str, column: str) -> str:
    with (CASEBOOK / "redo" / file).open(encoding="utf-8") as text:
        return next(row[column] for row in csv.DictReader(text) if key in row.values())


def said(pattern: str) -> tuple[str, ...]:
    """What the casebook's own page says."""
    found = re.search(pattern, (CASEBOOK / "README.md").read_text(encoding="utf-8"))
    assert found, pattern
    return found.groups()


def test_redo_before() -> None:
    rate, member = cell("profile.csv", "redo size", "before"), cell("config.csv", "member size", "before")
    told = size("redo", "--rate", f"{rate}MB/s", "--size", f"{member}B")
    assert told["by_name"]["switch interval"] == pytest.approx(500 / 9.45)
    assert cell("config.csv", "log switch interval", "before") == "1 per minute"
    assert round(told["by_name"]["switch interval"] / 60) == 1
    assert told["fits"] is False


def test_redo_after() -> None:
    (archived_min, switched_min) = said(r"archived in (\d+) min, switched every (\d+) min")
    member = cell("config.csv", "member size", "after")
    rate = 8 * 2**30 / (60 * int(switched_min))
    told = size("redo", "--rate", f"{rate:.6f}", "--size", f"{member}B", "--archive-time", f"{archived_min}min")
    assert told["by_name"]["switch interval"] == pytest.approx(7 * 60)
    assert told["by_name"]["archive time of that"] == pytest.approx(2 / 7)


def test_the_log_buffer() -> None:
    (buffer_mb, rate_mb) = said(r"\((\d+) MB for up to (\d+) MB/s\)")
    told = size("redo", "--rate", f"{rate_mb}MB/s")
    assert told["by_name"]["log buffer"] == pytest.approx(float(buffer_mb) * 2**20, rel=1e-12)
    assert cell("config.csv", "log_buffer", "after") == f"{buffer_mb}M"


def test_translations() -> None:
    entries, kilobytes, pga, more = said(r"needs (\d+) entries or (\d+) KB, 700 MB of PGA (\d+) entries, 2100 MB (\d+)")
    sga = size("tlb", "--memory", "12GiB", "--page", "4MiB", "--private", "700MiB")["by_name"]
    assert (sga["entries"], sga["entries for private memory"]) == (int(entries), int(pga))
    assert size("tlb", "--memory", "12GiB", "--page", "4MiB")["by_name"]["TSB for all of them"] == int(kilobytes) * 1024
    assert size("tlb", "--memory", "2100MiB", "--page", "4MiB")["by_name"]["entries"] == int(more)
    assert said(r"TSB of 8 KB holds (\d+)") == (f"{sga['entries of the default TSB']:.0f}",)
    small, smaller = said(r"16 GB in 8K pages needs about (\d) million, in 4K about (\d) million")
    counted = [size("tlb", "--memory", "16GiB", "--page", page)["by_name"]["entries"] for page in ("8KiB", "4KiB")]
    assert counted == [2_097_152, 4_194_304]
    assert [f"{one / 1e6:.0f}" for one in counted] == [small, smaller]


def test_faults_of_the_files() -> None:
    told = size("tlb", CASEBOOK / "tlb", "--memory", "12GiB", "--page", "4MiB")
    assert told["by_name"]["minor faults"] == 2_377_024_933
    assert told["by_name"]["major faults"] == 16_504_390
    assert round(100 * told["by_name"]["major over minor faults"], 2) == 0.69
    assert any("above the 0.5 %" in caution for caution in told["cautions"])


def test_the_working_values_of_the_queue() -> None:
    per_lun, per_target = said(r"working values: (\d+) per LUN and (\d+) per target")
    told = size("queue-depth", CASEBOOK / "queue_depth", "--luns", "8")
    assumed = {one["name"]: one["value"] for one in told["assumed"]}
    assert (assumed["most of a LUN"], assumed["most of the target"]) == (int(per_lun), int(per_target))
    assert told["by_name"]["LUNs that may be full"] == int(per_target) // int(per_lun)
    assert told["by_name"]["requests outstanding"] == pytest.approx(1 * 0.0232)  # sar: sd9, 1 a second of 23.2 ms


def test_the_listener_accepts_three_a_second() -> None:
    told = size("listener", CASEBOOK / "listener" / "before.truss")["by_name"]
    assert told["time of a pass"] == pytest.approx(0.30, abs=0.001)
    assert told["connections at most"] == pytest.approx(3.33, abs=0.01)


def test_page_tables_take_half_a_gigabyte_and_more() -> None:
    told = size("page-tables", "--sessions", "64", "--shared", "4GiB")["by_name"]
    assert told["of all sessions"] == 64 * (4 * 2**30) / 4096 * 8 == 0.5 * 2**30
