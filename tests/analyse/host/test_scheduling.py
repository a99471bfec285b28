"""How a process is scheduled, of settings as they are told."""

import pytest

from doctord.analyse.host.scheduling import cpu_list, scheduling
from doctord.dataset.dataset import Dataset

AT = {"ts": 1_000_000, "host": "h", "component": "process"}


def of(*rows: tuple[str, str]) -> Dataset:
    return Dataset.from_rows(setting=[AT | {"name": name, "value": value} for name, value in rows])


def test_the_last_word_about_a_process_counts() -> None:
    told = scheduling(of(("7 x.y.policy", "SCHED_OTHER"), ("7 x.y.nice", "-5"), ("7 x.y.nice", "0")), 7)
    assert told is not None
    assert (told.policy, told.nice, told.rt_priority, told.cpus) == ("SCHED_OTHER", 0, None, frozenset())


def test_of_another_process_nothing_is_known() -> None:
    assert scheduling(of(("77 x.policy", "SCHED_FIFO")), 7) is None


@pytest.mark.parametrize(
    ("text", "cpus"), [("0-2,7", {0, 1, 2, 7}), ("3", {3}), ("", set()), (None, set()), ("x-3", set())]
)
def test_lists_of_cpus(text: str | None, cpus: set[int]) -> None:
    assert cpu_list(text) == cpus
