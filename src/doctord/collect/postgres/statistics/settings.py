"""The server's settings: all of them at the start, what changed after each reload."""

import os
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.dataset.rows import now_us, rows
from doctord.dataset.secrets import HIDDEN, may_be_secret
from doctord.errors import UserError

_LOADED: Final = "SELECT /* doctord */ pg_conf_load_time() AS loaded, pg_postmaster_start_time() AS started"
_SETTINGS: Final = """\
SELECT /* doctord */ name, setting AS value, unit, source, sourcefile AS source_file,
       sourceline AS line, vartype, pending_restart
FROM pg_settings WHERE name <> 'search_path'
"""
_RULES_GRANTED: Final = """\
SELECT /* doctord */ has_table_privilege('pg_hba_file_rules', 'SELECT')
       AND has_function_privilege('pg_hba_file_rules()', 'EXECUTE') AS granted
"""
# Rules for which the server asks another one at each login: it names a host, or a method does. Names are not kept.
_RULES: Final = """\
SELECT /* doctord */ line_number AS line, auth_method AS method,
       coalesce(address !~ ':|^[0-9.]+$' AND address NOT IN ('all', 'samehost', 'samenet'), false) AS has_name
FROM pg_hba_file_rules WHERE error IS NULL ORDER BY line_number
"""
_ASKING: Final = ("ldap", "radius", "pam", "bsd", "gss", "sspi", "ident", "oauth")


class Settings:
    """Fills `setting` with pg_settings, `postmaster_pid` and `hba.asks`; changes, also pending ones, become events.

    Our own connections run with limits of their own, which would hide the server's: the settings are read over a short
    connection without them. It has a search_path of ours all the same, and so that one is left out. Values that may
    hold a secret are not kept: commands, connection strings, and the free text of settings that extensions and
    applications define.
    """

    name = "settings"

    def __init__(self) -> None:
        """Due every minute, and read when the server loaded its configuration again."""
        self.cadence = Cadence(every_s=60)
        self._loaded: object = None
        self._known: dict[str, dict[str, Any]] = {}

    def read(self, link: Link) -> list[Batch]:
        """All settings the first time, later those that changed."""
        loaded = link.query(_LOADED)[0]
        if loaded == self._loaded:
            return []
        settings = {row["name"]: row for row in _ask(link)}
        changed = [row for name, row in settings.items() if row != self._known.get(name)]
        for row in changed:
            self._note(row, link)
        self._loaded, self._known = loaded, settings
        shown = [_shown(row) for row in changed]
        if pid := link.server_pid():
            shown.append({"name": "postmaster_pid", "value": str(pid), "source": "kernel"})
        shown += _asking_rules(link)
        common = {"ts": now_us(), "host": os.uname().nodename, "component": "postgresql", "db": link.db}
        return [rows("setting", [{**common, **row} for row in shown])] if shown else []

    def close(self) -> None:
        """There is nothing of its own."""

    def _note(self, row: dict[str, Any], link: Link) -> None:
        before = self._known.get(row["name"])
        if before is not None and before["value"] != row["value"]:
            text = f"was {_shown(before)['value']}, is {_shown(row)['value']} ({row['source']})"
            link.notices.happened("settings change", link.db, row["name"], text)
        if row["pending_restart"]:
            text = "changed in the configuration, but not in force before a restart"
            link.notices.happened("settings change", link.db, row["name"], text)


def _ask(link: Link) -> list[dict[str, Any]]:
    plain = Link(link.target, link.notices, limits=False)
    try:
        plain.open()
        return plain.query(_SETTINGS)
    finally:
        plain.close()


def _asking_rules(link: Link) -> list[dict[str, Any]]:
    """Which lines of pg_hba.conf have the server ask another; nothing where that is not granted to see."""
    try:
        if not link.query(_RULES_GRANTED)[0]["granted"]:
            return []
        rules = link.query(_RULES)
    except UserError:  # pg_hba.conf is away, say: the settings themselves are known
        return []
    lines = []
    for rule in rules:
        whom = [*(["a host's name"] if rule["has_name"] else []), *[rule["method"]] * (rule["method"] in _ASKING)]
        lines += [f"line {rule['line']}: {' and '.join(whom)}"] if whom else []
    return [{"name": "hba.asks", "value": "; ".join(lines) or "none", "source": "pg_hba_file_rules"}]


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """The row as `setting` holds it, without the value when that may be a secret."""
    shown = {key: value for key, value in row.items() if key not in ("vartype", "pending_restart")}
    secret = may_be_secret(row["name"], is_text=row["vartype"] == "string")
    if secret and row["value"] and row["source"] != "default":
        shown["value"] = HIDDEN
    return shown
