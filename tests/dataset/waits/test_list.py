"""The tool that lists PostgreSQL's wait events, and that its list is what servers have."""

from collections.abc import Callable
from types import ModuleType

import pytest

from servers import FROM_NPM, PACKAGED, running_postgres

CAME_WITH_A_MINOR_RELEASE = {("IPC", "WalReceiverUpstreamCatchup")}  # 15.20, November 2026
TEXTS = [
    b"SomeFunction", b"a text", b"ArchiverMain", b"WALSync", b"Of2Morrow", b"another text", b"GetNamedLWLockTranche",
    b"<unassigned:0>", b"OidGen", b"XidGen", b"<unassigned:2>", b"ControlFile", b"no name", b"WALInsert",
    b"BufferContent", b"LWLockRelease", b"%s: %m",
]  # fmt: skip


def test_names_that_stand_together_in_a_program_are_events(tool: Callable[[str], ModuleType]) -> None:
    assert tool("list_postgresql_waits").compiled(TEXTS) == {
        "ArchiverMain", "WALSync", "Of2Morrow", "OidGen", "XidGen", "ControlFile", "WALInsert", "BufferContent",
    }  # fmt: skip


def test_what_the_list_says_of_other_versions_stays(tool: Callable[[str], ModuleType]) -> None:
    known = "type,event,versions\nIO,WALSync,13 18\nIO,Gone,18\nIO,Old,13\n"
    told = {18: {("IO", "WALSync"), ("IO", "New")}}
    assert tool("list_postgresql_waits").listed(known, told).splitlines() == [
        "type,event,versions", "IO,New,18", "IO,Old,13", "IO,WALSync,13 18",
    ]  # fmt: skip


@pytest.mark.server
@pytest.mark.parametrize("version", [PACKAGED, max(FROM_NPM)])
def test_the_list_is_what_a_server_has(version: int, tool: Callable[[str], ModuleType]) -> None:
    module = tool("list_postgresql_waits")
    with running_postgres(version) as server:
        told = module.told(server)
    known = module.LIST.read_text(encoding="utf-8")
    if version == PACKAGED:  # it may be older than that release
        told |= CAME_WITH_A_MINOR_RELEASE
    assert module.listed(known, {version: told}) == known
