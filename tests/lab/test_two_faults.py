"""Two faults in one server: what is measured in which order, and what cannot be together."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from benchmark_modules import benchmark
from doctord.lab.errors import LabError, UnavailableError
from doctord.lab.fault import Fault
from doctord.lab.load.workload import Pace

two_faults = benchmark("two_faults")
Happened = list[str]


def fault(name: str, happened: Happened, **others: Any) -> Fault:
    @contextmanager
    def inject(_server: object, _dose: object) -> Iterator[None]:
        happened.append(f"{name} begins")
        yield
        happened.append(f"{name} ends")

    return Fault(name, "", f"cause_of_{name}", inject, warm_up_s=0.0, **others)


@pytest.fixture
def happened(monkeypatch: pytest.MonkeyPatch) -> Happened:
    """What happens in the lab, with a server that does not exist."""
    told: Happened = []

    @contextmanager
    def loaded(wanted: Fault, *_others: object) -> Iterator[tuple[object, object]]:
        told.append(f"server with {dict(wanted.settings)}")
        if wanted.root_for:
            raise UnavailableError("it needs root")
        yield object(), SimpleNamespace(pace=paced)

    def paced(_since: float, _until: float) -> Pace:
        told.append("measured")
        return Pace(100.0, float(len(told)))

    monkeypatch.setattr(two_faults, "loaded_server", loaded)
    monkeypatch.setattr(two_faults, "BEFORE_S", 0.0)
    monkeypatch.setattr(two_faults, "ALONE_S", 0.0)
    return told


def test_each_is_measured_alone_and_both_are_looked_at(happened: Happened) -> None:
    first = fault("a", happened, settings={"jit": "on"})
    second = fault("b", happened, settings={"work_mem": "64kB"})
    outcome = two_faults.run_pair(first, second, lambda _: happened.append("looked"))
    assert happened == [
        "server with {'jit': 'on', 'work_mem': '64kB'}", "measured", "a begins", "measured", "b begins", "looked",
        "measured", "a ends", "measured", "b ends",
    ]  # fmt: skip
    assert [one.fault.name for one in outcome.alone] == ["a", "b"]
    assert outcome.before
    assert outcome.both
    assert outcome.is_case
    assert outcome.skipped is None


def test_a_pair_of_which_one_takes_nothing_is_no_case(happened: Happened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two_faults, "effect_of", lambda fault, *_: SimpleNamespace(found=fault.name == "a"))
    outcome = two_faults.run_pair(fault("a", happened), fault("b", happened), lambda _: None)
    assert not outcome.is_case


def test_one_that_cannot_be_injected_here_skips_the_pair(happened: Happened) -> None:
    outcome = two_faults.run_pair(fault("a", happened), fault("b", happened, root_for="a loop device"), lambda _: None)
    assert outcome.skipped == "it needs root"
    assert outcome.seen is None


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ({"settings": {"jit": "on"}}, {"settings": {"jit": "off"}}, "both set jit"),
        ({"controller": "io"}, {"controller": "memory"}, "both limit the server's control group"),
    ],
)
def test_two_that_want_different_servers_cannot_be_together(
    one: dict[str, Any], other: dict[str, Any], why: str, happened: Happened
) -> None:
    with pytest.raises(LabError, match=why):
        two_faults.run_pair(fault("a", happened, **one), fault("b", happened, **other), lambda _: None)
