"""The sections of an AWR-miner report that are about the database as a whole: what it is and how it is set."""

from collections.abc import Callable, Iterator

from doctord.dataset.rows import micros
from doctord.read.moments import placed_moment
from doctord.read.oracle.awr_miner.report import Found, Placed, Report
from doctord.read.oracle.ruled_table import Row

GIB = float(1 << 30)
NO_PATCH_TIME = "a patch without a time"


def hosts(about: dict[str, str | None], by_instance: list[Row]) -> dict[str | None, str | None]:
    """Host by instance; instance null where there is one of each. A list of several does not say which is whose."""
    named = {row.get("inst"): row.get("stat_value") for row in by_instance if row.get("stat_name") == "HOSTS"}
    only = about.get("HOSTS") or ""
    return named or ({None: only} if only and "," not in only and about.get("INSTANCES") == "1" else {})


def os_information(_: Report, found: list[Placed]) -> Iterator[Found]:
    """Figures of the first instance's host, and as settings what the database is."""
    for it in found:
        name = it.text("stat_name") or ""
        if name.startswith("NUM_CPU"):
            yield from it.statistic(f"v$osstat.{name}", it.figure("stat_value"), None)
        elif name == "PHYSICAL_MEMORY_GB":
            yield from it.statistic("v$osstat.PHYSICAL_MEMORY_BYTES", it.figure("stat_value", GIB), "bytes")
        elif name.startswith("!") and "COUNT" in name:
            yield from it.statistic(f"dba_cpu_usage_statistics.{name[1:]}", it.figure("stat_value"), None)
        elif not name.startswith("!"):
            yield from _setting(it, f"database.{name.lower()}", it.text("stat_value"), "AWR")


def parameters(_: Report, found: list[Placed]) -> Iterator[Found]:
    """Parameters of the instance with the lowest number, at the last snapshot; null: none is set."""
    for it in found:
        yield from _setting(it, it.text("parameter_name"), it.text("value"), "AWR")


def module(_: Report, found: list[Placed]) -> Iterator[Found]:
    """Rows of `setting`: `database.module`, the program that ran the script."""
    for it in found:
        yield from _setting(it, "database.module", it.text("module"), "AWR")


def snap_history(_: Report, found: list[Placed]) -> Iterator[Found]:
    """The snapshots that the database kept, and how many of them had errors."""
    for it in found:
        for column in ("snap_min", "snap_max", "cnt", "error_count"):
            yield from it.statistic(f"dba_hist_snapshot.{column}", it.figure(column), None)


def patch_history(report: Report, found: list[Placed]) -> Iterator[Found]:
    """Patches, as events of when they were applied; a long time of day runs on in a row of its own."""
    patches: list[dict[str, str]] = []
    numbers: list[int] = []
    for it in found:
        held = {column: text for column, text in it.row.items() if text}
        if it.text("rnum"):
            patches.append(held)
            numbers.append(it.number)
        elif patches:
            for column, text in held.items():
                patches[-1][column] = f"{patches[-1].get(column, '')} {text}".strip()
    for number, patch in zip(numbers, patches, strict=True):
        yield from _patch(report, number, patch)


def _patch(report: Report, number: int, patch: dict[str, str]) -> Iterator[Found]:
    moment = placed_moment(patch.get("action_time", ""), report.source)
    if moment is None:
        report.source.skip(number, NO_PATCH_TIME)
        return
    what = " ".join(patch[part] for part in ("action", "namespace", "version", "id", "bundle_series") if part in patch)
    subject = patch.get("comments", what)
    yield "event", {"ts": micros(moment), "kind": "patch", "subject": subject, "text": what}


def _setting(it: Placed, name: str | None, value: str | None, source: str) -> Iterator[Found]:
    if name:
        yield "setting", {"ts": it.span.end_us, "component": "oracle", "name": name, "value": value, "source": source}


SECTIONS: dict[str, Callable[[Report, list[Placed]], Iterator[Found]]] = {
    "OS-INFORMATION": os_information,
    "DATABASE-PARAMETERS": parameters,
    "PATCH-HISTORY": patch_history,
    "MODULE": module,
    "SNAP-HISTORY": snap_history,
}
