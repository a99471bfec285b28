"""The process that runs one query: it reads {lake, sql} from standard input, and writes the answer.

It is bound before it reads anything: memory, CPU seconds, no file may grow. DuckDB can read the lake alone and its
configuration is locked (`app/sql.py`); this is for what it might get wrong.
"""

import json
import resource
import sys
from pathlib import Path
from typing import Any, Final

CPU_S: Final = 40
MEMORY_BYTES: Final = 4 << 30  # of addresses, of which DuckDB and Arrow reserve more than they use
FOR_DUCKDB: Final[dict[str, str | int]] = {"memory_limit": "1GB", "threads": 2, "max_temp_directory_size": "0KB"}
MOST_ROWS: Final = 200


def main() -> None:
    """Answer the one query that stands on standard input."""
    asked = json.load(sys.stdin)
    for limit, most in ((resource.RLIMIT_CPU, CPU_S), (resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_FSIZE, 0)):
        _, hard = resource.getrlimit(limit)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (allowed, allowed))
    sys.stdout.write(json.dumps(_answer(Path(asked["lake"]), asked["sql"]), default=str))


def _answer(lake: Path, sql: str) -> dict[str, Any]:
    from doctord.app.sql import asked, refusing  # noqa: PLC0415 - the bounds come before what they are for
    from doctord.errors import UserError  # noqa: PLC0415
    from doctord.mcp.fitted import short  # noqa: PLC0415
    from doctord.report.rows import records  # noqa: PLC0415

    try:
        with refusing():
            result, problems = asked(sql, lake, FOR_DUCKDB)
            rows = records(result, MOST_ROWS + 1)
    except UserError as error:
        return {"refused": str(error)[:1000], "hint": error.hint}
    return {"rows": short(rows[:MOST_ROWS]), "more": len(rows) > MOST_ROWS, "problems": problems}


if __name__ == "__main__":
    main()
