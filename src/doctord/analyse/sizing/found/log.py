"""Redo and WAL: how much is written, and what is set for it."""

from doctord.analyse import figures
from doctord.analyse.sizing.found.finder import Found, Measured, finds, highest, setting


@finds("redo rate")
def _redo_rate(seen: Measured) -> Found:
    """The highest redo size of Oracle's reports (AWR, Statspack)."""
    return highest(seen, "v$sysstat.redo size")


@finds("log size")
def _log_size(seen: Measured) -> Found:
    """Redo between two log switches, of Oracle's reports."""
    redo, switches = (
        figures.figures(seen.dataset, name)
        for name in ("v$sysstat.redo size", "thread_activity.log switches (derived)")
    )
    if not redo or not switches or not switches[0].mean:
        return None
    return redo[0].mean / switches[0].mean, "measured: redo size / log switches (derived)"


@finds("log buffer")
def _log_buffer(seen: Measured) -> Found:
    """The setting log_buffer."""
    return setting(seen, log_buffer="bytes")


@finds("WAL rate")
def _wal_rate(seen: Measured) -> Found:
    """The highest wal_bytes of pg_stat_wal (PostgreSQL, recorded)."""
    return highest(seen, "pg_stat_wal.wal_bytes")


@finds("checkpoint_timeout")
def _timeout(seen: Measured) -> Found:
    """The setting checkpoint_timeout."""
    return setting(seen, checkpoint_timeout="s")


@finds("completion target")
def _completion(seen: Measured) -> Found:
    """The setting checkpoint_completion_target."""
    return setting(seen, checkpoint_completion_target="")


@finds("time between flushes")
def _flushes(seen: Measured) -> Found:
    """The setting wal_writer_delay."""
    return setting(seen, wal_writer_delay="ms")


@finds("max_wal_size")
def _max_wal_size(seen: Measured) -> Found:
    """The setting max_wal_size."""
    return setting(seen, max_wal_size="MB")
