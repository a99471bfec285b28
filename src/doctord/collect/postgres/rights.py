"""What this role may not see, and what the server does not measure: said once, with how to grant or switch it on."""

from typing import Final

from doctord.collect.postgres.link import Link

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
        grant = f'GRANT pg_monitor TO "{rights["me"]}"'
        link.notices.unseen(link.db, "sessions of others", f"{rights['me']} is no member of pg_monitor", grant)
    for subject, on, why, setting in (
        ("sessions", rights["activities"], "track_activities is off", "track_activities = on"),
        ("duration of reads and writes", rights["io_timing"], "track_io_timing is off", "track_io_timing = on"),
        (
            "duration of WAL writes and syncs",
            rights["wal_io_timing"] is not False,
            "track_wal_io_timing is off",
            "track_wal_io_timing = on",
        ),
        (
            "statements of sessions",
            _has_query_id(rights, link.version),
            "no query id is computed",
            _query_id_hint(link),
        ),
    ):
        if not on:
            link.notices.unseen(link.db, subject, why, f"set {setting} (no restart is needed)")


def _has_query_id(rights: dict[str, object], version: int) -> bool:
    """With `auto` a library asks for it; before version 14 sessions do not show one."""
    if version < 140000:
        return False
    computed = rights["query_id"]
    return computed == "on" or (computed in ("auto", "regress") and "pg_stat_statements" in str(rights["libraries"]))


def _query_id_hint(link: Link) -> str:
    return "compute_query_id = on" if link.version >= 140000 else "nothing: pg_stat_activity has it from version 14"
