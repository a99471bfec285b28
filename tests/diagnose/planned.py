"""A slow statement whose plan was read, for the tests of causes that look at plans."""

from collections.abc import Mapping, Sequence
from typing import Any

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding

NUMBER = "11"


def findings(
    plan: Sequence[Mapping[str, Any]],
    text: str = "select * from v where a = $1",
    *,
    figures: Mapping[tuple[str | None, str], float] | None = None,
    wait: tuple[str, str] = ("CPU", "CPU"),
    extra: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    **changes: Any,
) -> Sequence[Finding]:
    """What is said of a statement: four calls of 200 ms a second of it, for one row and 3,000 blocks each."""
    statement = {
        "statement_id": NUMBER, "text": text, "calls_per_s": 4.0, "elapsed_s_per_s": 0.8, "rows_per_s": 4.0,
        "hit_blocks_per_s": 12_000.0, "read_blocks_per_s": 0.0, **changes,
    }  # fmt: skip
    common = {"db": DB, "database": "bench", "statement_id": NUMBER}
    rows = [common | {"step": step} | dict(node) for step, node in enumerate(plan)]
    session = {"wait_class": wait[0], "event": wait[1], "statement_id": NUMBER}
    return diagnose(
        host(
            time={("CPU", "CPU"): 0.1},
            sessions=[session],
            statements=[statement],
            postgres=figures,
            extra={"plan": rows, **(extra or {})},
        )
    ).findings


def of(cause: str, found: Sequence[Finding]) -> Finding | None:
    return next((one for one in found if one.cause == cause), None)
