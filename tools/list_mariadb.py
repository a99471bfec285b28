"""Renew the list of MariaDB's settings from a server that is started for it, and from its `--help --verbose`.

    .venv/bin/python tools/list_mariadb.py [--write]

The server that is installed runs in a temporary folder, as an unprivileged user. Five seconds.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/support/servers"))

from settings_list import Row, arguments, renew, row

from mariadb_server import MariaDBServer, binary, running_mariadb

QUERY: Final = """
SELECT lower(VARIABLE_NAME), VARIABLE_SCOPE, VARIABLE_TYPE, coalesce(DEFAULT_VALUE, ''),
    coalesce(NUMERIC_MIN_VALUE, ''), coalesce(NUMERIC_MAX_VALUE, ''), coalesce(ENUM_VALUE_LIST, ''), READ_ONLY
FROM information_schema.SYSTEM_VARIABLES
"""
KINDS: Final = {"BOOLEAN": "bool", "ENUM": "enum", "DOUBLE": "real"}
# The table at the end of `--help --verbose`: names, and what they are set to.
HELP_TABLE: Final = re.compile(r"^-+ -+\n(.*?)\n\n", re.MULTILINE | re.DOTALL)
NO_VARIABLES: Final = frozenset({"help", "verbose"})
UNBOUNDED: Final = 2.0**62  # from here on it is the bound of the type, not of the setting


def listed(server: MariaDBServer) -> list[Row]:
    """What a server says of its variables, and of its options that are no variables."""
    variables = {told[0]: _row(told) for told in server.execute(QUERY)}
    options = [name for name in _options() if name not in variables and name not in NO_VARIABLES]
    return [*variables.values(), *(row(name, "string", "restart", note="an option, no variable") for name in options)]


def _row(told: tuple[str, ...]) -> Row:
    name, scope, kind, default, least, most, words, read_only = told
    kind = "int" if "INT" in kind else KINDS.get(kind, "string")
    choices = words.split(",") if kind == "enum" and words else []
    return row(
        name,
        kind,
        "session" if scope == "SESSION ONLY" else "restart" if read_only == "YES" else "SET GLOBAL or restart",
        default=f"{float(default):.15g}" if kind == "real" and default else default,
        least=least,
        most="" if most and float(most) >= UNBOUNDED else most,
        # A choice may be given by its place too.
        choices=" ".join([*choices, *map(str, range(len(choices)))]),
    )


def _options() -> list[str]:
    command = [binary("mariadbd"), "--no-defaults", "--help", "--verbose"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (table,) = HELP_TABLE.findall(said)
    return [line.split()[0].replace("-", "_").lower() for line in table.splitlines()]


def main() -> int:
    """Start the server, and renew the list."""
    given = arguments(__doc__)
    with running_mariadb() as server:
        [[version]] = server.execute("SELECT VERSION()")
        return renew("mariadb.csv", {".".join(version.split(".")[:2]): listed(server)}, write=given.write)


if __name__ == "__main__":
    sys.exit(main())
