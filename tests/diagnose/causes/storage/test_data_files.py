"""Causes of data files: each fires on its own host, and on no healthy one."""

from typing import Any

import pytest

from diagnose.hosts import DB, GIB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

FOLDER = "/var/lib/postgresql/18/main"
FILE = f"{FOLDER}/base/5/16384"
Figures = dict[tuple[str | None, str], float]


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def opened(data: tuple[float, float], log: tuple[float, float] = (1.0, 0.0), rings: float = 0.0) -> Figures:
    return {
        (f"{FOLDER} {kind}", f"open_files.{name}"): value
        for kind, values in (("data", data), ("log", log))
        for name, value in zip(("writable", "direct"), values, strict=True)
    } | {(FOLDER, "open_files.io_uring"): rings}


@pytest.mark.parametrize(
    ("settings", "figure"),
    [
        ({"debug_io_direct": "data, wal_init"}, "0 of 57 data files are open with O_DIRECT"),
        ({"debug_io_direct": "wal"}, "0 of 1 log files are open with O_DIRECT"),
        ({"innodb_flush_method": "O_DIRECT"}, "0 of 57 data files are open with O_DIRECT"),
        ({"filesystemio_options": "SETALL"}, "0 of 57 data files are open with O_DIRECT"),
        ({"io_method": "io_uring", "data_directory": f"{FOLDER}/"}, "0 rings are open"),
    ],
)
def test_what_is_set_is_not_in_force(settings: dict[str, str], figure: str) -> None:
    finding = found(host(settings=settings, kernel=opened((57.0, 0.0))))["io_not_as_set"]
    ((name, value),) = [item for item in settings.items() if item[0] != "data_directory"]
    assert said(finding.title) == f"{name} = {value} is not in force"
    assert figure in figures(finding.for_)
    assert finding.database == DB


@pytest.mark.parametrize(
    ("settings", "kernel"),
    [
        ({"debug_io_direct": "data"}, opened((57.0, 50.0))),
        ({"debug_io_direct": ""}, opened((57.0, 0.0))),
        ({"io_method": "worker"}, opened((57.0, 0.0))),
        ({"io_method": "io_uring"}, opened((57.0, 0.0), rings=9.0)),
        ({"debug_io_direct": "data", "io_method": "io_uring"}, {}),
        ({"debug_io_direct": "data"}, opened((57.0, 0.0)) | {("/another", "open_files.io_uring"): 0.0}),
    ],
    ids=["in force", "not asked for", "by workers", "rings", "not measured", "two servers"],
)
def test_what_is_as_set_or_unknown(settings: dict[str, str], kernel: Figures) -> None:
    assert "io_not_as_set" not in found(host(settings=settings, kernel=kernel))


def in_pieces(count: float, size: float = 1.0 * GIB) -> Figures:
    return {(FILE, "extents.count"): count, (FILE, "extents.file_bytes"): size}


def stack(rotational: str) -> dict[str, Any]:
    told = {f"path.{FOLDER}.devices": "dm-0 sda", "block.sda.rotational": rotational}
    return {"setting": [{"component": "kernel", "name": name, "value": value} for name, value in told.items()]}


def test_a_file_in_pieces_on_a_disk_that_turns() -> None:
    finding = found(host(kernel=in_pieces(65_536), extra=stack("1")))["data_file_fragmented"]
    assert said(finding.title) == f"1 data file lies in small pieces, {FILE} in 65,536"
    assert finding.severity == "warning"
    assert f"16.0 KiB a piece: {FILE} of 1.0 GiB lies in 65,536" in figures(finding.for_)
    assert not finding.against


def test_a_disk_that_does_not_turn_speaks_against_it() -> None:
    finding = found(host(kernel=in_pieces(65_536), extra=stack("0")))["data_file_fragmented"]
    assert figures(finding.against) == "sda does not turn"
    assert finding.severity == "note"


@pytest.mark.parametrize("kernel", [in_pieces(8000), in_pieces(65_536, 16.0 * 2**20), {}])
def test_files_in_few_pieces(kernel: Figures) -> None:
    assert "data_file_fragmented" not in found(host(kernel=kernel, extra=stack("1")))
