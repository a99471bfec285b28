import pytest

from doctord.dataset.waits.postgres import classify, wait_events
from servers import running_postgres

CLASSES = {
    "User I/O", "System I/O", "Commit", "Application", "Concurrency", "Configuration", "Network", "Scheduler", "Other",
    "Idle",
}  # fmt: skip

WHOLE_TYPES = {"Buffer", "InjectionPoint"}
"""Types that only versions after 18, and servers built for tests, have."""


@pytest.mark.server
@pytest.mark.parametrize("version", [17, 18])
def test_every_event_that_a_server_knows_is_in_the_mapping(version: int) -> None:
    with running_postgres(version) as server:
        known = server.execute("SELECT type, name FROM pg_wait_events")
    assert len(known) > 200
    missing = [
        event for event in known if event[0] not in WHOLE_TYPES and (event[0], event[1].lower()) not in wait_events()
    ]
    assert missing == []
    assert {event[0] for event in known} <= {wait_type for wait_type, name in wait_events() if name == "*"}


@pytest.mark.parametrize(
    ("wait_type", "event", "kind", "expected"),
    [
        (None, None, "client backend", ("CPU", "CPU")),
        ("Lock", "transactionid", "client backend", ("Application", "transactionid")),
        ("Lock", "extend", "client backend", ("Concurrency", "extend")),
        ("LWLock", "WALWrite", "client backend", ("Commit", "WALWrite")),
        ("IO", "DataFileRead", "client backend", ("User I/O", "DataFileRead")),
        ("IO", "DataFileRead", "parallel worker", ("User I/O", "DataFileRead")),
        ("IO", "DataFileWrite", "checkpointer", ("System I/O", "DataFileWrite")),
        ("IO", "BuffileWrite", "client backend", ("User I/O", "BufFileWrite")),
        ("IO", "WALSync", "client backend", ("Commit", "WALSync")),
        ("IO", "WalSync", "client backend", ("Commit", "WALSync")),
        ("IPC", "SyncRep", "client backend", ("Commit", "SyncRep")),
        ("Client", "ClientRead", "client backend", ("Network", "ClientRead")),
        ("Timeout", "VacuumDelay", "autovacuum worker", ("Idle", "VacuumDelay")),
        ("Extension", "PgFdwReceive", "client backend", ("Other", "PgFdwReceive")),
        ("IO", "FromTheFuture", "client backend", ("User I/O", "FromTheFuture")),
        ("Unheard", "Of", "client backend", ("Other", "Of")),
    ],
)
def test_classes(wait_type: str | None, event: str | None, kind: str, expected: tuple[str, str]) -> None:
    assert classify(wait_type, event, kind)[:2] == expected


def test_the_mapping_uses_the_classes_of_the_dataset() -> None:
    events = wait_events().values()
    assert {event.wait_class for event in events} <= CLASSES
    assert {event.background_class for event in events} <= CLASSES | {""}


@pytest.mark.parametrize(
    ("wait_type", "event", "kind", "expected"),
    [
        (None, None, "client backend", "cpu"),
        ("Lock", "tuple", "client backend", "row lock"),
        ("IO", "WALWrite", "client backend", "log sync"),
        ("IO", "WALWrite", "walwriter", "log write"),
        ("LWLock", "OfAnExtension", "client backend", "internal lock"),
        ("Unheard", "Of", "client backend", None),
    ],
)
def test_kinds(wait_type: str | None, event: str | None, kind: str, expected: str | None) -> None:
    assert classify(wait_type, event, kind).wait_kind == expected
