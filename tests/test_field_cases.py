"""The field cases: what an expert says of files, in the shape in which benchmarks/field_cases.py reads it."""

import csv
import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from shared import CASEBOOK, CORPUS, needs_casebook, needs_corpus

HERE = Path(__file__).parent
CAUSES = set((HERE / "diagnose" / "cause_names.txt").read_text(encoding="utf-8").split())
SOURCES = {
    "awr", "awr-miner", "sar", "iostat", "vmstat", "mpstat", "pidstat", "trace", "sherlock", "dbpa", "casebook", "fio",
    "log",
}  # fmt: skip


def _field_cases() -> ModuleType:
    spec = importlib.util.spec_from_file_location("field_cases", HERE.parent / "benchmarks" / "field_cases.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["field_cases"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


FIELD = _field_cases()
CASES = FIELD.all_cases()
WINDOWS = [case for case in CASES if case.part]


def test_names_are_unique() -> None:
    assert [name for name, times in Counter(case.name for case in CASES).items() if times > 1] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_says_what_it_must(case) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - a class loaded by path
    assert case.state in FIELD.STATES
    assert case.source in SOURCES
    assert case.files
    assert all(file.partition(":")[0] in {"corpus", "casebook"} for file in case.files)
    assert bool(case.part) == any(file.endswith(".parquet") for file in case.files)
    assert bool(case.first) == (case.state == "sick")
    assert case.says.endswith(".")
    assert case.why.endswith(".")
    named = [*case.first, *case.also, *case.never]
    assert set(named) <= CAUSES
    assert len(named) == len(set(named)), "a cause cannot be true and false, nor first and also"


def test_there_are_enough() -> None:
    states = Counter(case.state for case in CASES)
    assert len(CASES) >= 60
    assert states["sick"] >= 25
    assert states["healthy"] >= 20
    assert sum(case.host_only for case in CASES if case.state == "sick") >= 6
    assert sum("linux_text/" in file for case in CASES for file in case.files) <= 15


@needs_corpus
@needs_casebook
def test_their_files_are_there() -> None:
    roots = {"corpus": CORPUS, "casebook": CASEBOOK}
    named = {file.partition(":")[::2] for case in CASES for file in case.files}
    assert [path for root, path in named if not (roots[root] / path).exists()] == []


@needs_corpus
@pytest.mark.parametrize("case", WINDOWS, ids=lambda case: case.name)
def test_a_window_is_written_as_dstat_writes(case, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    (path,) = FIELD.written_as_file(case, tmp_path, CORPUS)
    with path.open(encoding="utf-8", newline="") as file:
        title, *_, groups, columns, since_boot, first, second = [row for row in csv.reader(file) if row][:9]
    assert title == ["Dstat 0.7.3 CSV output"]
    assert {"epoch", "total cpu usage", "dsk/total", "net/total", "procs"} <= set(groups)
    assert len(groups) == len(columns) == len(first)
    assert since_boot[1:] == first[1:], "dstat's first row is of no interval"
    assert 0 < float(second[0]) - float(first[0]) <= 10
    total = sum(float(first[columns.index(name)]) for name in ("usr", "sys", "idl", "wai"))
    assert 75 <= total <= 101


def test_a_part_that_selects_nothing_is_refused(tmp_path: Path) -> None:
    case = FIELD.Case("x", ("corpus:none.parquet",), "seconds", "dbpa", "sick", True, (), (), (), ".", ".")  # noqa: FBT003
    with pytest.raises(ValueError, match="write `case=NAME`"):
        FIELD.written_as_file(case, tmp_path, CORPUS)
