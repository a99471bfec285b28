"""Who takes the room of a file system: open files that grow, and deleted ones that are still held."""

from typing import Final

from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase

GROWN: Final = "open_file.grown_bytes"
DELETED: Final = "open_file.deleted_bytes"
MOST_NAMED: Final = 3


def writers(case: Case, mount: str | None) -> list[Evidence]:
    """Files of a mount that grow, the fastest first, then deleted ones by their size; none where nobody looked."""
    grown = [
        Evidence("statistic", f"name = '{GROWN}' and entity = '{one.entity}'",
                 phrase("{} grows by {:bytes/s}", _file(one.entity, mount), one.mean), "", "it takes the room")
        for one in case.figures(GROWN) if _is_on(one.entity, mount)
    ]  # fmt: skip
    deleted = sorted((one for one in case.figures(DELETED) if _is_on(one.entity, mount)), key=lambda one: -one.last)
    held = [
        Evidence("statistic", f"name = '{DELETED}' and entity = '{one.entity}'",
                 phrase("{} takes {:bytes}", _file(one.entity, mount), one.last), "",
                 "no folder shows it, and its room is free once the process closes it")
        for one in deleted
    ]  # fmt: skip
    return [*grown[:MOST_NAMED], *held[:MOST_NAMED]]


def _is_on(entity: str | None, mount: str | None) -> bool:
    return (entity or "").startswith(f"{mount}: ")


def _file(entity: str | None, mount: str | None) -> str:
    return (entity or "").removeprefix(f"{mount}: ")
