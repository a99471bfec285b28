"""A Prometheus as a source: which host, which time, and what was usual before."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from doctord.app.asked import Interval
from doctord.app.sources.prometheus import Prometheus
from doctord.errors import UserError
from heard import Heard
from prometheus_replay import BEGIN, Replay, after, node, replay

HOUR = Interval(after(60), after(90), 0.0)


@pytest.fixture(scope="module")
def server() -> Iterator[Replay]:
    """Two hosts, a quarter of an hour of each."""
    with replay([*node(91), *node(91, "10.0.0.2:9100", "vm2")]) as running:
        yield running


def test_each_host_is_a_part_of_its_own(server: Replay) -> None:
    source = Prometheus(server.address)
    seen = source.each(HOUR)
    assert [one.host for one in seen] == ["vm1", "vm2"]
    assert [one.dataset.hosts for one in seen] == [{"vm1"}, {"vm2"}]
    assert all(one.dataset.since == pytest.approx(after(60), abs=timedelta(seconds=11)) for one in seen)
    assert all(one.dataset.until <= after(90) for one in seen)
    with pytest.raises(UserError, match="2 hosts are told of"):
        source.seen(HOUR)


@pytest.mark.parametrize("name", ["vm2", "VM2", "10.0.0.2", "10.0.0.2:9100"])
def test_one_host_is_chosen_by_its_name_or_address(server: Replay, name: str) -> None:
    asked = len(server.asked)
    assert Prometheus(server.address, name).seen(HOUR).dataset.hosts == {"vm2"}
    assert not any("vm1" in values.get("query", "") for _, values, _ in server.asked[asked:])


def test_a_host_that_is_not_there(server: Replay) -> None:
    with pytest.raises(UserError, match="no host 'vm3'") as refused:
        Prometheus(server.address, "vm3").seen(HOUR)
    assert refused.value.hint == "there are: vm1, vm2"


def test_of_many_hosts_one_has_to_be_chosen() -> None:
    recorded = [one for number in range(12) for one in node(3, f"db{number}:9100", f"vm{number}")]
    with replay(recorded) as many:
        with pytest.raises(UserError, match="12 hosts are told of: vm0, vm1, vm10") as refused:
            Prometheus(many.address).each(Interval(BEGIN, after(3), 0.0))
        assert "--host" in refused.value.hint
        assert Prometheus(many.address, "vm7").seen(Interval(BEGIN, after(3), 0.0)).host == "vm7"


def test_what_was_usual_before_is_asked_for_in_few_samples(server: Replay) -> None:
    asked = len(server.asked)
    (seen,) = Prometheus(server.address, "vm1").each(Interval(after(60), after(90), 600.0))
    assert seen.earlier.frame("disk").height > 10
    assert seen.earlier.until <= after(60)
    assert "event" not in seen.earlier.tables
    assert any(path.endswith(("query_range", "query")) for path, *_ in server.asked[asked:])


def test_a_time_of_which_it_knows_nothing(server: Replay) -> None:
    with pytest.raises(UserError, match="tells nothing of exporters"):
        Prometheus(server.address).each(Interval(BEGIN - timedelta(days=2), BEGIN - timedelta(days=1), 0.0))


def test_what_is_read_of_each_host_is_as_if_it_were_a_file(server: Replay) -> None:
    files = list(Prometheus(server.address).files(HOUR, watcher := Heard()))
    assert [(file.name, file.format) for file in files] == [(server.address, "Prometheus' HTTP API")] * 2
    assert all(file.tables["disk"].num_rows for file in files)
    assert not watcher.notes
