"""Lock waits divide by what the sessions at the roots do."""

import pytest

from doctord.analyse.locking.lock_roots import Roots
from doctord.analyse.locking.locks import LockWait
from doctord.analyse.time import TimeModel, TimeShare

DB = "postgresql:5432"
TIME = TimeModel(
    "database",
    10.0,
    (
        TimeShare("Application", "transactionid", 8.0, 0.8, "row lock"),
        TimeShare("Scheduler", "run queue", 1.5, 0.15, "run queue"),
        TimeShare("CPU", "CPU", 0.5, 0.05, "cpu"),
    ),
    seconds=10.0,
)


def wait(root_kind: str | None, seconds: float, event: str | None = None, db: str = DB) -> LockWait:
    return LockWait(db, "row lock", root_kind, event or root_kind, seconds)


def test_parts_of_what_is_known() -> None:
    roots = Roots([wait("log sync", 30.0, "WALSync"), wait("idle", 10.0), wait(None, 40.0)], TIME)
    assert roots.part(["row lock"], ["log sync"]) == 0.75
    assert roots.behind(["log sync"]) == pytest.approx(0.6)
    assert roots.events(["log sync", "standby"]) == ["WALSync"]


def test_too_little_is_known() -> None:
    assert Roots([wait("log sync", 19.0)], TIME).part(["row lock"], ["log sync"]) is None
    assert Roots([wait("log sync", 20.0)], TIME).part(["row lock"], ["log sync"]) == 1
    assert Roots([], TIME).part(["row lock"], ["log sync"]) is None
    assert Roots([], TIME).behind(["log sync"]) == 0


def test_a_root_that_wants_a_cpu_is_in_its_queue_as_long_as_all_are() -> None:
    roots = Roots([wait("cpu", 80.0, "CPU")], TIME)
    assert roots.part(["row lock"], ["run queue"]) == pytest.approx(0.75)
    assert roots.part(["row lock"], ["cpu"]) == pytest.approx(0.25)
    assert roots.part(["row lock"], ["cpu", "run queue"]) == pytest.approx(1.0)


def test_another_server_is_no_reason() -> None:
    roots = Roots([wait("standby", 60.0), wait("standby", 20.0, db="postgresql:5433")], TIME)
    assert roots.part(["row lock"], ["standby"], "postgresql:5433") == 0.25


def test_who_waits_behind_a_lock_of_another_kind_waits_for_that() -> None:
    behind = LockWait(DB, "row lock", None, None, 60.0, "application lock", "advisory")
    roots = Roots([behind, wait("log sync", 20.0)], TIME)
    assert roots.part(["row lock"], ["application lock"]) == 0.75
    assert roots.events(["application lock"]) == ["advisory"]
