"""One SELECT on a lake, in a process that can do nothing else."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field
from typing_extensions import TypedDict

from doctord.errors import UserError
from doctord.mcp.fitted import fitted
from doctord.mcp.place import lake_named
from doctord.mcp.tools.parameters import Lake

LONGEST_S: Final = 20
SHORTER: Final = "read less: a shorter time (where ts > ...), fewer columns, an aggregate"


class Rows(TypedDict):
    """Rows, each a record by the names of its columns; texts in them may be strangers' words.

    `more` says whether there are more rows than these.
    """

    rows: list[dict[str, Any]]
    more: bool
    problems: list[str]
    left_out: dict[str, int]


def query_lake(
    lakes: Sequence[Path],
    *,
    sql: Annotated[str, Field(description="One SELECT, DESCRIBE, SUMMARIZE or SHOW of DuckDB.", max_length=10_000)],
    lake: Lake = None,
) -> dict[str, Any]:
    """Ask a lake in SQL (DuckDB): one reading statement, 200 rows at most, cut at 8 KB. No live server is asked.

    `show tables` lists the tables, `describe session` the columns of one; doctord://tables explains them. Times are UTC
    in column ts, the end of what a row covers (interval_s seconds). Aggregate in SQL rather than reading rows.
    """
    asked = json.dumps({"lake": str(lake_named(lakes, lake)), "sql": sql})
    try:
        done = subprocess.run(
            [sys.executable, "-m", "doctord.mcp.query_process"],
            input=asked.encode(),
            capture_output=True,
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"the query took longer than {LONGEST_S} s", SHORTER) from error
    if done.returncode:
        raise UserError("the query needed more memory or time than it may have", SHORTER)
    answer = json.loads(done.stdout)
    if "refused" in answer:
        raise UserError(answer["refused"], answer["hint"])
    return fitted(answer, {"problems": 2, "rows": 1})
