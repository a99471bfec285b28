"""A verdict is the same document each time: no order of hashes or threads is in it."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from diagnose.hosts import START, host
from doctord.dataset.rows import micros, rows
from doctord.lake.writer import LakeWriter

SOURCE = Path(__file__).parents[1] / "src" / "doctord"
ORDERED = {"group_by", "unique", "sort", "sort_by", "join"}
SUMS = """
import polars as pl
from doctord.dataset.dataset import Dataset
numbers = range(600_000)
rows = pl.DataFrame({"key": [str(row % 3) for row in numbers], "value": [0.1 + row / 7e6 for row in numbers]})
sums = (rows.group_by("key", maintain_order=True).agg(pl.col("value").sum())["value"] for _ in range(12))
print(len({tuple(one) for one in sums}))
"""
CONVOY = {("Application", "transactionid"): 6.0, ("Application", "tuple"): 2.0, ("CPU", "CPU"): 2.2}
WAITER = {"wait_class": "Application", "event": "transactionid", "in_state_s": 0.2}


def unordered(path: Path) -> Iterator[str]:
    """Calls of Polars that hand rows out in an order of their own."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, words = node.func.attr, {word.arg for word in node.keywords}
        is_text = name == "join" and not words and len(node.args) == 1
        is_list = name == "sort" and (not node.args or words & {"key", "reverse"})
        is_numpy = isinstance(node.func.value, ast.Name) and node.func.value.id == "np"
        if name in ORDERED and "maintain_order" not in words and not (is_text or is_list or is_numpy):
            yield f"{path.name}:{node.lineno}: {name}"


@pytest.mark.parametrize("folder", ["analyse", "diagnose", "lint", "report"])
def test_what_a_verdict_is_made_of_keeps_its_order(folder: str) -> None:
    assert [found for path in sorted((SOURCE / folder).rglob("*.py")) for found in unordered(path)] == []


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many sessions behind two that are alike, with statements and processes that are alike."""
    roots = [{"sid": sid, "statement_id": str(sid), "user": "app"} for sid in (7000, 7001)]
    waiters = [WAITER | {"sid": 7100 + number, "blocker_sid": 7000 + number % 2} for number in range(12)]
    statements = [
        {"statement_id": str(sid), "text": f"UPDATE t{sid} SET n = 1", "elapsed_s_per_s": 4.0, "calls_per_s": 9.0}
        for sid in (7000, 7001)
    ]
    hogs = [{"command": f"hog{number}", "usr_pct": 90.0} for number in range(4)]
    dataset = host(time=CONVOY, sessions=[*roots, *waiters], statements=statements, other_processes=hogs)
    path = tmp_path_factory.mktemp("same") / "lake"
    with LakeWriter(path) as writer:
        for name in dataset.tables:
            writer.append(rows(name, [plain(row) for row in dataset.frame(name).to_dicts()]))
    return path


def plain(row: dict[str, Any]) -> dict[str, Any]:
    return {key: micros(value) if isinstance(value, datetime) else value for key, value in row.items()}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["diagnose", "profile", "forecast", "thresholds check"])
def test_a_verdict_twice_is_one_document(command: str, lake: Path) -> None:
    words = [Path(sys.executable).with_name("doctord"), *command.split(), "--lake", lake, "--json"]
    if command in {"diagnose", "thresholds check"}:
        words += ["--from", START.isoformat(), "--to", f"{START:%Y-%m-%d}T23:59:59Z"]
    documents = set()
    for threads in ("1", "2"):
        order = {"PYTHONHASHSEED": threads, "POLARS_MAX_THREADS": threads}
        told = subprocess.run(words, capture_output=True, text=True, env=os.environ | order, timeout=120, check=False)
        assert told.returncode in {0, 1, 2}, told.stderr
        documents.add(told.stdout)
    assert len(documents) == 1
    assert len(documents.pop()) > 200


def test_sums_over_many_rows_are_the_same_to_their_last_digit() -> None:
    words, threads = [sys.executable, "-c", SUMS], os.environ | {"POLARS_MAX_THREADS": "2"}
    told = subprocess.run(words, capture_output=True, text=True, env=threads, timeout=120, check=True)
    assert told.stdout == "1\n"
