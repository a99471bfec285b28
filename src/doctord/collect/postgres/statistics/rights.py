"""What this role may not see, and what the server does not measure: said once, with how to grant or switch it on."""

from collections.abc import Iterator
from typing import Any, Final

from doctord.collect.postgres.connection.link import Link

_RIGHTS: Final = """\
SELECT /* doctord */ current_user AS me,
       pg_has_role('pg_read_all_stats', 'USAGE') AS all_stats,
       pg_has_role('pg_read_all_settings', 'USAGE') AS all_settings,
       current_setting('track_io_timing')::bool AS io_timing,
       current_setting('track_activities')::bool AS activities,
       current_setting('track_wal_io_timing', true)::bool AS wal_io_timing,
       current_setting('compute_query_id', true) AS query_id,
       (SELECT setting FROM pg_settings WHERE name = 'shared_preload_libraries') AS libraries
"""


def note_rights(link: Link) -> None:
    """Ask the server what we may see, and note what we may not."""
    rights = link.query(_RIGHTS)[0]
    if not (rights["all_stats"] and rights["all_settings"]):
        why, hint = f"{rights['me']} is no member of pg_monitor", f'GRANT pg_monitor TO "{rights["me"]}"'
        link.notices.not_measured(link.db, "sessions of others", why, hint)
    for subject, why, hint in _switched_off(rights, link.version):
        link.notices.not_measured(link.db, subject, why, hint)


def _switched_off(rights: dict[str, Any], version: int) -> Iterator[tuple[str, str, str]]:
    """What is not measured: subject, why, and how to switch it on."""
    if not rights["activities"]:
        yield "sessions", "track_activities is off", _set("track_activities")
    if not rights["io_timing"]:
        yield "duration of reads and writes", "track_io_timing is off", _set("track_io_timing")
    if rights["wal_io_timing"] is False:
        yield "duration of WAL writes and syncs", "track_wal_io_timing is off", _set("track_wal_io_timing")
    if version < 140000:
        yield "statements of sessions", "sessions show them from version 14 on", "upgrade the server"
    elif rights["query_id"] == "auto" and rights["libraries"] is None:
        why = "whether query ids are computed is not granted to see"
        yield "statements of sessions", why, f'GRANT pg_read_all_settings TO "{rights["me"]}"'
    elif rights["query_id"] != "on" and "pg_stat_statements" not in (rights["libraries"] or ""):
        # With `auto`, the default, a library such as pg_stat_statements asks for the ids.
        yield "statements of sessions", "no query id is computed", _set("compute_query_id")


def _set(name: str) -> str:
    return f"set {name} = on (no restart is needed)"
