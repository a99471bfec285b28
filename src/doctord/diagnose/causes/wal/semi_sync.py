"""MySQL's and MariaDB's semi-synchronous replication: that commits wait for replicas which are not there."""

from typing import Final

from doctord.diagnose.case import Case
from doctord.diagnose.causes.wal.standbys import STANDBY
from doctord.diagnose.common.waited import of_kind
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase
from doctord.units import setting_number

# MySQL names them anew in 8.0.26.
SIDES: Final = ("source", "master")
DEFAULT_COUNT: Final = 1.0


def missing_replica(case: Case, db: str | None, share: float) -> Claim | None:
    """The claim that fewer semi-synchronous replicas are connected than must confirm; null where enough are.

    Args:
        case: The case, in which commits wait for a replica.
        db: The server whose commits do; null where that is not told.
        share: Share (0 to 1) of the time that they do.
    """
    side = next((one for one in SIDES if case.total(_clients(one), db) is not None), None)
    if db is None or side is None:
        return None
    there = case.total(_clients(side), db) or 0.0
    counts = f"rpl_semi_sync_{side}_wait_for_{'replica' if side == 'source' else 'slave'}_count"
    wanted = setting_number(case.setting(counts, db) or "") or DEFAULT_COUNT
    if there >= wanted:
        return None
    time_out, enabled = f"rpl_semi_sync_{side}_timeout", f"rpl_semi_sync_{side}_enabled"
    timeout_ms = setting_number(case.setting(time_out, db) or "")
    return Claim(
        phrase("Commits wait for a semi-synchronous replica that is not there: {:.0f} of {:.0f} that must confirm",
               there, wanted),
        impact=share,
        confidence=0.95,
        for_=[
            *of_kind(case, STANDBY),
            Evidence("statistic", f"name = '{_clients(side)}' and db = '{db}'",
                     phrase("{:.0f} semi-synchronous replicas are connected", there), phrase("{:.0f}", wanted - 1),
                     "no commit is confirmed until one connects, or the time is up", "at_most"),
            *([Evidence("setting", f"name = '{time_out}' and db = '{db}'",
                        phrase("{} = {:duration}", time_out, timeout_ms / 1000), "",
                        "so long does a commit wait before the server goes on without replicas")]
              if timeout_ms else []),
        ],
        remedy=(
            f"Start the replica again, or its I/O thread (START REPLICA; rpl_semi_sync_{_replica(side)}_enabled = ON "
            "there).",
            f"If it will not be back soon, decide to do without its protection: SET GLOBAL {enabled} = OFF: what waits "
            "is let go at once.",
            f"Then: a {time_out} of seconds, so that the next outage of a replica is none of the service's; one "
            "replica more than must confirm.",
        ),
        verify=(f"{_clients(side).partition('.')[2]} is as large as must confirm, and no session waits for an ACK.",),
        database=db,
    )  # fmt: skip


def _clients(side: str) -> str:
    return f"global_status.rpl_semi_sync_{side}_clients"


def _replica(side: str) -> str:
    return "replica" if side == "source" else "slave"
