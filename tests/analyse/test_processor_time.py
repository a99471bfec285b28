"""CPU and run queue of sessions: as the kernel counts them for a server's own processes, and as samples tell them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.sql.statements import statements
from doctord.analyse.sql.top_time import top_time
from doctord.analyse.time import processor_times, time_model
from doctord.analyse.vitals import sampled, vitals
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
DB = "postgresql:5432"
SECONDS = 10
Row = dict[str, Any]


def second(i: float, **columns: Any) -> Row:
    return {"ts": START + timedelta(seconds=i), "interval_s": 1.0, "host": "a", **columns}


def each(**columns: Any) -> list[Row]:
    return [second(i, **columns) for i in range(1, SECONDS + 1)]


def backend(pid: int, cpu: float, run_wait: float, **columns: Any) -> list[Row]:
    known = {"pid": pid, "ppid": 7, "command": "postgres: client backend", "vcsw_per_s": 100.0}
    return each(**(known | {"usr_pct": cpu, "sys_pct": 0.0, "run_wait_pct": run_wait} | columns))


def session(pid: int, event: str = "CPU", wait_class: str = "CPU", seconds: float = 0.1, **columns: Any) -> list[Row]:
    known = {"db": DB, "sid": pid, "pid": pid, "kind": "client", "state": "active", "user": "app", "statement_id": "1"}
    return each(**(known | {"event": event, "wait_class": wait_class, "interval_s": seconds} | columns))


def looks() -> list[Row]:
    """What the sampling tells of each second."""
    return each(db=DB, event="CPU", wait_class="CPU", average_active_sessions=0.0)


def postmaster(pid: int = 7) -> list[Row]:
    return [second(0, component="postgresql", db=DB, name="postmaster_pid", value=str(pid))]


def crowd(**more: list[Row]) -> Dataset:
    """Fifty backends that queue for two CPUs, of which samples saw one at work, for a tenth of the time."""
    process = [row for pid in range(100, 150) for row in backend(pid, 4.0, 46.0)]
    tables = {"process": process, "session": session(100), "wait": looks(), "setting": postmaster()}
    return Dataset.from_rows(cpu=each(idle_pct=0.0), **(tables | more))


def shares(dataset: Dataset) -> dict[str, float]:
    return {part.event: pytest.approx(part.seconds_per_second, rel=0.02) for part in time_model(dataset).shares}


def test_backends_that_samples_have_for_idle_are_on_a_cpu_and_queue_for_it() -> None:
    dataset = crowd()
    assert shares(dataset) == {"run queue": 23.0, "CPU": 2.0}
    assert processor_times(dataset)[DB].unsampled_s == pytest.approx(249.0)
    assert vitals(dataset)["active sessions"].value == pytest.approx(25.0)
    assert sampled(dataset)["active sessions"].value == pytest.approx(0.1)


def test_no_session_need_have_been_sampled() -> None:
    assert shares(crowd(session=[])) == {"run queue": 23.0, "CPU": 2.0}


def test_whose_process_they_are_the_sessions_tell_where_the_server_does_not() -> None:
    assert shares(crowd(setting=[])) == {"run queue": 23.0, "CPU": 2.0}


def test_processes_of_another_server_and_of_the_server_itself_are_not_its_clients() -> None:
    others = [
        *backend(100, 4.0, 46.0),
        *backend(200, 50.0, 50.0, ppid=8),
        *backend(201, 50.0, 50.0, command="postgres: checkpointer"),
        *backend(202, 50.0, 50.0, command="postgres: autovacuum worker"),
    ]
    assert shares(crowd(process=others)) == {"run queue": 0.46, "CPU": 0.04}


def test_our_own_sessions_are_nobody_s_time() -> None:
    own = [second(0, component="doctord", db=DB, name="backend 149"), *postmaster()]
    samples = [*session(100), *session(148, program="doctord")]
    told = processor_times(crowd(setting=own, session=samples))[DB]
    assert told.cpu_s + told.run_queue_s == pytest.approx(48 * 5.0 + 1.0)


def test_of_a_server_elsewhere_samples_alone_tell() -> None:
    elsewhere = crowd(process=backend(100, 50.0, 0.0, command="java"), setting=[])
    assert shares(elsewhere) == {"CPU": 0.1}
    assert shares(crowd(process=backend(100, 4.0, 46.0, run_wait_pct=None))) == {"CPU": 0.1}


def test_samples_that_tell_of_more_than_the_kernel_counted_stand() -> None:
    few = crowd(process=backend(100, 30.0, 10.0), session=session(100, seconds=0.8))
    assert shares(few) == {"CPU": 0.6, "run queue": 0.2}


@pytest.mark.parametrize(
    ("cpu", "run_wait", "expected"),
    [
        (10.0, 5.0, {"off the CPU": 0.65, "CPU": 0.1, "run queue": 0.05}),
        (0.0, 0.0, {"off the CPU": 0.8}),
        (50.0, 12.0, {"CPU": 0.645, "run queue": 0.155}),
    ],
    ids=["asleep most of the time", "all of it", "no more than chance"],
)
def test_what_samples_tell_far_beyond_the_kernels_count_is_off_the_cpu(
    cpu: float, run_wait: float, expected: dict[str, float]
) -> None:
    samples = [
        row | {"ts": row["ts"] - timedelta(seconds=half)} for row in session(100, seconds=0.4) for half in (0, 0.5)
    ]
    dataset = crowd(process=backend(100, cpu, run_wait), session=samples)
    assert shares(dataset) == expected


def test_workers_without_a_row_of_their_own_are_as_samples_tell() -> None:
    samples = [*session(100), *session(900, kind="parallel worker", seconds=0.5)]
    told = processor_times(crowd(process=backend(100, 40.0, 10.0), session=samples))[DB]
    assert (told.cpu_s, told.run_queue_s) == (pytest.approx(8.0), pytest.approx(2.0))


def test_waits_are_the_samples_and_what_was_run_queue_of_them_is_taken_off() -> None:
    samples = [*session(100), *session(101, "WALSync", "Commit", 0.6)]
    calls = each(db=DB, statement_id="1", calls_per_s=40.0, elapsed_s_per_s=0.1)
    process = [row for pid in (100, 101) for row in backend(pid, 10.0, 30.0, vcsw_per_s=50.0)]
    plain = crowd(process=process, session=samples)
    assert shares(plain) == {"WALSync": 0.6, "run queue": 0.6, "CPU": 0.2}
    # of a hundred sleeps forty were waits for the client: 60 % of the run queue that samples did not see was in waits
    assert shares(crowd(process=process, session=samples, statement=calls)) == {
        "WALSync": 0.6 - 0.6 * 0.7 * 0.75, "run queue": 0.6, "CPU": 0.2
    }  # fmt: skip


def test_no_backend_is_longer_in_something_than_it_is_there() -> None:
    samples = session(100, "WALSync", "Commit", 0.7)
    assert shares(crowd(process=backend(100, 10.0, 70.0), session=samples)) == {
        "run queue": 0.7, "WALSync": 0.2, "CPU": 0.1
    }  # fmt: skip


@pytest.mark.parametrize(("blocks", "cpu"), [(100_000.0, 0.3), (1000.0, 0.5)])
def test_reads_out_of_the_page_cache_are_not_counted_twice(blocks: float, cpu: float) -> None:
    samples = [*session(100, seconds=0.1), *session(101, "DataFileRead", "User I/O", 0.2)]
    reads = each(
        component="postgresql", db=DB, entity="app", name="pg_stat_database.blks_read", value=blocks, kind="rate"
    )
    process = [row for pid in (100, 101) for row in backend(pid, 25.0, 0.0)]
    assert shares(crowd(process=process, session=samples, statistic=reads)) == {"DataFileRead": 0.2, "CPU": cpu}


def test_what_clients_waited_before_their_calls_began_is_shared_out_by_calls() -> None:
    calls = [
        *each(db=DB, statement_id="1", calls_per_s=90.0, elapsed_s_per_s=0.1),
        *each(db=DB, statement_id="2", calls_per_s=10.0, elapsed_s_per_s=0.1),
    ]
    found = {one.statement_id: one.share for one in statements(crowd(statement=calls))}
    assert sum(found.values()) == pytest.approx(1.0, abs=0.01)
    assert found["1"] > 0.85


def test_without_calls_statements_users_and_programs_share_it_as_they_share_the_samples() -> None:
    dataset = crowd(session=session(100, program="app"))
    assert statements(dataset)[0].share == pytest.approx(1.0)
    assert {one.kind: one.share for one in top_time(dataset) if one.kind != "statement"} == {
        "user": pytest.approx(1.0), "program": pytest.approx(1.0)
    }  # fmt: skip


def test_samples_that_came_late_do_not_make_the_kernel_s_seconds_longer() -> None:
    late = [row for number, row in enumerate(session(100, seconds=1.0)) if number % 2 == 0]
    told = time_model(crowd(session=late, wait=[row | {"average_active_sessions": 0.0} for row in looks()[::2]]))
    assert told.seconds_per_second == pytest.approx(25.0, rel=0.1)


def thread(event: str = "CPU", wait_class: str = "CPU", seconds: float = 0.1, **columns: Any) -> list[Row]:
    return [row | {"pid": None} for row in session(100, event, wait_class, seconds, **columns)]


def threads(**more: list[Row]) -> Dataset:
    """A server whose sessions are threads of its one process, which is 0.5 s a second on a CPU and 1.5 s without."""
    told = {"cpu": each(idle_pct=0.0), "session": [], "wait": looks()}
    server = [second(0, component="mysql", db=DB, name="server_pid", value="7")]
    process = [
        *each(pid=7, ppid=1, command="mysqld", usr_pct=40.0, sys_pct=10.0, run_wait_pct=150.0),
        *each(pid=8, ppid=1, command="mysqld", usr_pct=90.0, sys_pct=0.0, run_wait_pct=10.0),
    ]
    return Dataset.from_rows(**(told | {"setting": server, "process": process} | more))


def test_sessions_that_are_threads_are_told_by_their_process() -> None:
    assert shares(threads()) == {"run queue": 1.5, "CPU": 0.5}
    seen = threads(session=thread(seconds=0.8))
    assert shares(seen) == {"run queue": 1.5, "CPU": 0.5}
    assert processor_times(seen)[DB].unsampled_s == pytest.approx(12.0)


def test_what_background_threads_took_is_not_the_sessions() -> None:
    rate = {"component": "mysql", "db": DB, "kind": "rate"}
    told = [
        *each(name="threads.background_cpu_s_per_s", value=0.2, **rate),
        *each(name="threads.background_run_wait_s_per_s", value=0.5, **rate),
        *each(name="threads.background_cpu_s_per_s", value=0.4, **(rate | {"db": "mysql:3307"})),
    ]
    assert shares(threads(statistic=told)) == {"run queue": 1.0, "CPU": 0.3}


def test_threads_that_were_sampled_for_longer_than_the_kernel_counted_queue_as_it_tells() -> None:
    assert shares(threads(session=thread(seconds=4.0))) == {"run queue": 3.0, "CPU": 1.0}


def test_a_plan_that_is_being_made_queues_like_all_else_and_is_counted_once() -> None:
    planning = thread("statistics", "Other", 0.4, wait_kind="parse")
    assert shares(threads(session=planning)) == {"run queue": 1.5, "CPU": 0.4, "statistics": 0.1}
    mutex = thread("wait/synch/mutex/sql/LOCK_open", "Concurrency", 0.4, wait_kind="parse")
    assert shares(threads(session=mutex))["wait/synch/mutex/sql/LOCK_open"] == 0.4


def test_what_samples_of_threads_do_not_tell_the_kernel_and_the_disks_do() -> None:
    untold = thread("running: Sending data", "Unaccounted", 1.0) * 3
    assert shares(threads(session=untold)) == {"run queue": 1.5, "running: Sending data": 1.0, "CPU": 0.5}
    missed = each(component="mysql", db=DB, kind="rate", name="global_status.innodb_buffer_pool_reads", value=800.0)
    disk = each(device="vda", reads_per_s=2000.0, read_ms=0.5)
    told = shares(threads(session=untold, statistic=missed, disk=disk))
    assert (told["Innodb_buffer_pool_reads"], told["running: Sending data"]) == (0.4, 0.6)
    stacked = [*disk, *each(device="dm-0", reads_per_s=2000.0, read_ms=0.5)]
    assert shares(threads(session=untold, statistic=missed, disk=stacked))["Innodb_buffer_pool_reads"] == 0.4
    elsewhere = shares(threads(session=untold, statistic=missed, disk=disk, setting=[]))
    assert elsewhere["running: Sending data"] == 3.0
    cached = each(device="vda", reads_per_s=100.0, read_ms=0.5)
    assert shares(threads(session=untold, statistic=missed, disk=cached))["Innodb_buffer_pool_reads"] == 0.05
    event = "running: Waiting for a new kind of lock"
    waiting = thread(event, "Unaccounted", 1.0) * 3
    assert shares(threads(session=waiting, statistic=missed, disk=disk))[event] == 3.0
