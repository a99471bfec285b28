"""Which source is taken, and what is lost with the next best."""

import time
from collections.abc import Callable

import pytest

from doctord.analyse.latency.map import latency_map
from doctord.collect import live as sources
from doctord.collect.bpf import host as bpf_host
from doctord.collect.core.database import Wanted
from doctord.collect.linux import LinuxCollector
from doctord.collect.live import Choice, choose
from doctord.collect.postgres.latency.means import MEANS, PostgresMeans
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from servers import PACKAGED, PostgresServer


@pytest.fixture
def without_bpftrace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.bpftrace, "hindrance", lambda: ("bpftrace is not installed", "apt install bpftrace"))


@pytest.mark.usefixtures("without_bpftrace")
def test_of_a_device_the_mean_is_left() -> None:
    device = next(iter(bpf_host.devices()), None)
    if device is None:
        pytest.skip("no block device here")
    choice = choose(Wanted(f"{device} read", 1.0))
    (collector,) = choice.collectors
    assert isinstance(collector, LinuxCollector)
    collector.close()
    assert choice.lost
    assert "bpftrace is not installed: the mean of diskstats is shown, the distribution is lost" in choice.lost


@pytest.mark.usefixtures("without_bpftrace")
@pytest.mark.parametrize("subject", ["run queue", "pread64", "buffer read", "LWLock WALWrite"])
def test_what_only_bpftrace_times_is_refused_with_how_to_get_it(subject: str) -> None:
    with pytest.raises(UserError, match="cannot be timed here: bpftrace is not installed") as refused:
        choose(Wanted(subject, 1.0))
    assert refused.value.hint == "apt install bpftrace"


@pytest.mark.usefixtures("without_bpftrace")
def test_an_unknown_subject_is_refused() -> None:
    with pytest.raises(UserError, match="nothing here times 'fdatasink'") as refused:
        choose(Wanted("fdatasink", 1.0))
    assert "fdatasync" in refused.value.hint


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted("pread64", 1.0, pid=2**30), "there is no process 1073741824"),
        (Wanted("smgr read", 1.0, pid=1), "'smgr read' is no system call"),
        (Wanted("smgr read", 1.0, db="mysql:3306"), "'mysql:3306' names no server of this host"),
        (Wanted("smgr read", 1.0, dsn="redis://x"), "an address begins with none of mysql://, mariadb://, oracle://"),
    ],
)
def test_what_is_not_there_is_refused(wanted: Wanted, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources.bpftrace, "hindrance", lambda: None)
    with pytest.raises(UserError, match=message):
        choose(wanted)


@pytest.mark.server
@pytest.mark.usefixtures("without_bpftrace")
def test_of_a_server_the_means_of_its_own_counters_are_left(
    postgres_server: Callable[..., PostgresServer],
) -> None:
    server = postgres_server(PACKAGED, {"track_io_timing": "on", "shared_buffers": "1MB"})
    choice = choose(Wanted("smgr read", 0.5, dsn=server.dsn()))
    assert choice.lost
    assert "means of the server's own counters are shown, the distribution is lost" in choice.lost
    dataset = sampled(choice.collectors[0], server)
    drawn = latency_map(dataset, "smgr read")
    assert drawn.kind == "mean"
    counted = sum(column.count or 0 for column in drawn.columns)
    assert counted > 100
    assert all((column.mean_us or 1.0) > 0 for column in drawn.columns)


@pytest.mark.server
def test_times_that_the_server_does_not_take_are_said(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(PACKAGED, {"track_io_timing": "off"})
    (collector,) = means(server, "smgr read").collectors
    dataset = sampled(collector, server)
    assert dataset.frame("wait").is_empty()
    (event,) = dataset.frame("event").rows(named=True)
    assert (event["kind"], event["text"]) == ("not measured", "track_io_timing is off")
    assert event["hint"] == "ALTER SYSTEM SET track_io_timing = on; SELECT pg_reload_conf()"


@pytest.mark.server
@pytest.mark.parametrize("version", [PACKAGED, 16, 18])
def test_every_mean_is_a_statement_that_the_server_knows(
    postgres_server: Callable[..., PostgresServer], version: int
) -> None:
    settings = {"track_io_timing": "on", "track_wal_io_timing": "on"}
    server = postgres_server(version, settings)
    for subject in MEANS:
        dataset = sampled(means(server, subject).collectors[0], server)
        said = [row["text"] for row in dataset.frame("event").iter_rows(named=True)]
        expected = {"query": ["pg_stat_statements"], "smgr write": ["this version"] if version < 16 else []}
        assert len(said) == len(expected.get(subject, []))
        assert all(text.startswith(begin) for text, begin in zip(said, expected.get(subject, []), strict=True))


def means(server: PostgresServer, subject: str) -> Choice:
    choice = sources._means(Wanted(subject, 0.5, dsn=server.dsn()), subject, "why")
    assert choice
    return choice


def sampled(collector: "sources.Collector", server: PostgresServer) -> Dataset:
    """Two samples, and reads and writes between them."""
    assert isinstance(collector, PostgresMeans)
    batches = collector.sample()
    server.execute("create table if not exists t as select generate_series(1, 30000) as a", "select count(*) from t")
    server.execute("checkpoint", "select pg_stat_force_next_flush()" if server.version >= 15 else "select 1")
    time.sleep(1.2)
    batches += collector.sample()
    collector.close()
    return Dataset.from_batches(batches)
