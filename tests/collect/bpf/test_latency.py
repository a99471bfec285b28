"""Latencies timed in the kernel: the programs, what they print, and a real server against its own statistics."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.analyse.latency.map import LatencyMap, latency_map
from doctord.analyse.latency.modes import reading
from doctord.collect.bpf import host as bpf_host
from doctord.collect.bpf.latency import BpfLatency, Printed
from doctord.collect.bpf.program import STEPS, Moment, Span, edges_us, program
from doctord.collect.core.database import Wanted
from doctord.collect.live import choose, live_subjects
from doctord.collect.postgres.latency import probes as bpf_postgres
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.lab.binaries import find_binaries
from doctord.lab.host import folder
from doctord.lab.host.cgroup import control_group, device_of
from doctord.lab.server import PrivateServer, running_server
from doctord.lab.template import provide_cluster
from needs import needs_bpftrace


@given(st.integers(0, 2**50))
def test_a_bucket_holds_what_falls_into_it(ticks: int) -> None:
    """The kernel's arithmetic, done here, and the edges that it leads to."""
    exponent = max(ticks.bit_length() - 1, 0)
    bucket = ticks if exponent <= 5 else (exponent - 5) * STEPS + (ticks >> (exponent - 5))
    low, high = edges_us(bucket)
    assert low <= ticks / 1024 < high
    assert ticks < 2 * STEPS or high / low <= 1 + 1 / STEPS


def test_powers_of_two_are_among_the_edges() -> None:
    edges = {edges_us(bucket)[0] for bucket in range(2000)}
    assert {2.0**power for power in range(-5, 30)} <= edges


def test_a_program_names_its_spans_and_whose_they_are() -> None:
    text = program([Span([Moment("a:b", "tid", "pid > 1")], Moment("a:c"), "str(arg0)")], 3.0, "pid == 7")
    assert "a:b /(pid > 1) && (pid == 7)/ { @b0[tid] = nsecs; }" in text
    assert "a:c /(@b0[tid])/" in text
    assert "@c[0, str(arg0), $k] = count();" in text
    assert "interval:ms:3000" in text


def test_requests_are_named_by_what_they_do() -> None:
    assert [bpf_host.operation(letters) for letters in ("RA", "WSM", "FWS", "D", "FF", "N")] == [
        "read",
        "write",
        "write",
        "discard",
        "flush",
        "flush",
    ]


def test_what_was_printed_becomes_increases() -> None:
    collector = BpfLatency(bpf_host.system_call("pread64", 1.0), 1.0)
    first = collector._by_subject(Printed(0, 1.0, {"0,0,64": 2, "0,0,65": 1}, {"0,0,64": 130, "0,0,65": 70}))
    assert {edges: (total.count, total.waited_us) for edges, total in first["pread64"].items()} == {
        edges_us(64): (2, 0.13),
        edges_us(65): (1, 0.07),
    }


@needs_bpftrace
def test_a_program_that_does_not_load_is_refused() -> None:
    with pytest.raises(UserError, match="bpftrace cannot time it here"):
        BpfLatency(bpf_host.Spans("x", Span([Moment("tracepoint:no:such")], Moment("BEGIN")), 1.0), 1.0).check()


@needs_bpftrace
def test_an_unknown_subject_is_refused_with_near_ones() -> None:
    with pytest.raises(UserError, match="nothing here times 'run queu'") as refused:
        choose(Wanted("run queu", 1.0))
    assert "run queue" in refused.value.hint


@pytest.mark.slow
@needs_bpftrace
def test_bpftrace_that_ends_is_a_gap_and_is_started_again() -> None:
    collector = BpfLatency(bpf_host.system_call("pread64", 0.5), 0.5)
    collector.check()
    try:
        assert until(collector, "latency")["subject"].unique().to_list() == ["pread64"]
        assert collector._running
        collector._running._process.kill()
        collector._running._process.wait()
        assert until(collector, "event")["kind"].to_list() == ["gap"]
        assert until(collector, "latency").height > 0
    finally:
        collector.close()


def until(collector: BpfLatency, table: str) -> pl.DataFrame:
    """The first rows of a table that come."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not (found := Dataset.from_batches(collector.sample()).frame(table)).is_empty():
            return found
        time.sleep(0.1)
    raise AssertionError(f"no rows of {table}")


@contextmanager
def small_cache(group_reads_per_s: int | None = None) -> Iterator[PrivateServer]:
    """A server with 100 times more data than buffers, whose files the operating system keeps forgetting."""
    binaries = find_binaries()
    with folder.private_folder() as home, control_group("io") as group:
        provide_cluster(binaries, 10, home / "data")
        # An analysis in the background tells what it read when it has ended, long after it was traced.
        settings = {"shared_buffers": "1MB", "track_io_timing": "on", "autovacuum": "off"}
        with running_server(binaries, home, home / "data", settings, group=group) as server:
            # Else reads set hint bits, and what is dirty stays in the page cache.
            server.execute("vacuum (freeze) pgbench_accounts")
            server.execute("checkpoint")
            if group_reads_per_s:
                group.limit_io(device_of(server.data), reads_per_s=group_reads_per_s, writes_per_s=10_000)
            yield server


@contextmanager
def later_server() -> Iterator[PrivateServer]:
    """Another server of the same executable."""
    binaries = find_binaries()
    with folder.private_folder() as home:
        provide_cluster(binaries, 1, home / "data")
        with running_server(binaries, home, home / "data", {}) as server:
            yield server


def random_reads(server: PrivateServer, seconds: int) -> None:
    """Random reads, from the disk: what was read is forgotten again."""
    over = threading.Event()

    def forget() -> None:
        with ExitStack() as stack:
            base = [file for file in server.data.joinpath("base").rglob("*") if file.is_file()]
            files = [stack.enter_context(file.open("rb")).fileno() for file in base if file.stat().st_size > 1 << 20]
            while not over.wait(0.002):
                for file in files:
                    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)

    thread = threading.Thread(target=forget)
    thread.start()
    try:
        command = [server.binaries / "pgbench", "--builtin=select-only", f"--time={seconds}", "--client=2", server.dsn]
        subprocess.run(command, capture_output=True, check=True)
    finally:
        over.set()
        thread.join()


def timed(server: PrivateServer, subject: str, seconds: int) -> tuple[LatencyMap, int, float]:
    """The map of random reads, and what the server's own statistics say: blocks read, and their time, us."""
    (collector,) = choose(Wanted(subject, 0.5, db=f"postgresql:{server.port}")).collectors
    try:
        before = own_figures(server)
        random_reads(server, seconds)
        after = own_figures(server)
        time.sleep(2)  # bpftrace prints every half second
        dataset = Dataset.from_batches(collector.sample())
    finally:
        collector.close()
    return latency_map(dataset, subject), int(after[0] - before[0]), (after[1] - before[1]) * 1e3


def own_figures(server: PrivateServer) -> tuple[int, float]:
    """Blocks read and their time, ms, by all backends: each tells what it read before it leaves the list."""
    others = "select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
    with server.connect() as connection:
        connection.execute("select pg_stat_force_next_flush()")
        while connection.execute(others).fetchone():
            time.sleep(0.1)
        row = connection.execute("select sum(blks_read), sum(blk_read_time) from pg_stat_database").fetchone()
    assert row
    return row


@pytest.mark.server
@pytest.mark.root
@needs_bpftrace
def test_reads_of_a_real_server_are_those_of_its_own_statistics() -> None:
    with small_cache() as server:
        drawn, blocks, time_us = timed(server, "smgr read", 4)
        whole = drawn.whole
        assert blocks > 1000
        assert all(mode.typical_us < 20_000 for mode in reading(drawn).modes)
        assert whole.total == pytest.approx(blocks, rel=0.05)  # a process that is late has not told of all its reads
        assert whole.time.sureness == "exact"
        assert whole.time.us / whole.total == pytest.approx(time_us / blocks, rel=0.10)
        assert drawn.db == f"postgresql:{server.port}"


@pytest.mark.server
@pytest.mark.root
@needs_bpftrace
def test_a_throttled_disk_moves_the_mode() -> None:
    with small_cache(group_reads_per_s=30) as server:
        drawn, _, _ = timed(server, "smgr read", 5)
    # Connecting reads catalogues from the page cache; then the throttle lets reads through in slices of 0.1 s.
    steady = drawn.between(drawn.columns[0].end + timedelta(seconds=1.5), None)
    # One slice, and two where the machine is busy. Of the time, not of the reads: how many of them the page cache still
    # answers depends on how busy the machine is too.
    throttled = [mode for mode in reading(steady).modes if 60_000 <= mode.typical_us < 250_000]
    assert sum(mode.time_share for mode in throttled) > 0.75, reading(steady)
    assert {mode.meaning for mode in throttled} == {"queued or throttled"}


@pytest.mark.server
@pytest.mark.root
@needs_bpftrace
def test_queries_are_counted_one_by_one_and_a_new_postmaster_is_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    with small_cache() as server:
        subject = bpf_postgres.of_postgres("query", server.port, 0.5)
        assert subject
        names = {live.name for live in live_subjects() if live.db == f"postgresql:{server.port}"}
        assert {"smgr read", "LWLock", "query"} <= names
        collector = BpfLatency(subject, 0.5)
        collector.check()
        try:
            with later_server() as later:
                later.execute("select 1")  # of the same executable, and not of this server
            for _ in range(5):
                server.execute("select 1")
            counted = 0
            while counted < 5:
                counted += until(collector, "latency")["count"].sum()
            assert counted == 5
            monkeypatch.setattr(bpf_postgres.Postgres, "identity", lambda _: "another postmaster")
            gap = until(collector, "event").row(0, named=True)
            assert (gap["kind"], gap["text"]) == ("gap", "the server was started again: timed anew")
            server.execute("select 1")
            assert until(collector, "latency")["count"].sum() <= 1
        finally:
            collector.close()
