"""Who is in swap, and for whom: those alive in the end, and programs that began meanwhile."""

from datetime import timedelta
from typing import Any

from diagnose.hosts import GIB, HOST, START
from doctord.dataset.dataset import Dataset
from doctord.diagnose.causes.memory.swapped import grown, swapped
from doctord.report.phrases import said


def looks(pid: int, seconds: range, command: str, **figures: Any) -> list[dict[str, Any]]:
    begun = START + timedelta(seconds=seconds[0] - 1)
    return [
        {"ts": START + timedelta(seconds=second), "interval_s": 1.0, "host": HOST, "pid": pid, "started": begun,
         "command": command, **figures}
        for second in seconds
    ]  # fmt: skip


def dataset(*processes: list[dict[str, Any]]) -> Dataset:
    memory = [{"ts": START, "interval_s": 1.0, "host": HOST, "total_bytes": 16 * GIB}]
    return Dataset.from_rows(process=[row for rows in processes for row in rows], memory=memory)


def test_sessions_that_ended_long_ago_are_in_no_swap() -> None:
    gone = [looks(pid, range(1, 20), "postgres: client backend", anon_bytes=GIB, swap_bytes=GIB) for pid in range(9)]
    alive = looks(100, range(1, 600), "postgres: client backend", anon_bytes=GIB, swap_bytes=GIB // 2)
    (told,) = swapped(dataset(*gone, alive))
    assert told.value == GIB // 2


def test_a_program_that_began_meanwhile_took_all_that_it_has() -> None:
    resting = looks(100, range(1, 60), "postgres: client backend", rss_bytes=GIB)
    late = looks(200, range(30, 60), "report", rss_bytes=6 * GIB)
    early = looks(300, range(1, 60), "cache", rss_bytes=6 * GIB)
    (told,) = grown(dataset(resting, late, early))
    assert said(told.figure) == "report (pid 200) took 6.0 GiB more"


def test_a_program_that_has_ended_by_now_was_one_of_them() -> None:
    resting = looks(100, range(1, 60), "postgres: client backend", rss_bytes=GIB)
    (told,) = grown(dataset(resting, looks(200, range(10, 30), "report", rss_bytes=6 * GIB)))
    assert "report" in said(told.figure)
