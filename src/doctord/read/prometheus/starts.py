"""That a server started anew, by what its exporter tells of it.

The moment of its start, or how long it is up, says so. Where neither is told: PostgreSQL forgets all its statistics
when it recovers from a crash. Those of a database and those of the whole server go back at once then; by hand each is
reset for itself.
"""

from typing import Final

from doctord.read.prometheus.samples import Sample

STARTED: Final = "pg_postmaster_start_time_seconds"
UPTIME: Final = "mysql_global_status_uptime"
OF_DATABASES: Final = "pg_stat_database_xact_commit"
OF_THE_SERVER: Final = "pg_stat_bgwriter_buffers_alloc"
SECONDS: Final = 2.0  # by which a moment of start may be told differently
COMPONENTS: Final = {
    STARTED: "postgresql", UPTIME: "mysql", OF_DATABASES: "postgresql", OF_THE_SERVER: "postgresql",
    f"{OF_THE_SERVER}_total": "postgresql", f"{OF_DATABASES}_total": "postgresql",
}  # fmt: skip


class Starts:
    """Remembers of the servers of one target what tells of a start."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self._last = dict[tuple[str, tuple[tuple[str, str], ...]], float]()
        self._changed = dict[str, set[str]]()

    def look(self, db: str, sample: Sample) -> None:
        """A sample of one of the metrics in `COMPONENTS`."""
        series = (sample.name, sample.about)
        before, self._last[series] = self._last.get(series), sample.value
        if before is None:
            return
        changed = sample.value > before + SECONDS if sample.name == STARTED else sample.value < before
        if changed:
            self._changed.setdefault(db, set()).add(sample.name.removesuffix("_total"))

    def anew(self) -> dict[str, str]:
        """The servers that started since this was last asked, and how that is known."""
        found, self._changed = self._changed, {}
        told = {db: _why(changed) for db, changed in found.items()}
        return {db: why for db, why in told.items() if why}


def _why(changed: set[str]) -> str | None:
    if told := changed & {STARTED, UPTIME}:
        return f"it started anew: {told.pop()} tells"
    if {OF_DATABASES, OF_THE_SERVER} <= changed:
        return "it started anew after a crash: all its statistics began again at once"
    return None
