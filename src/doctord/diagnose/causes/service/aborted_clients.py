"""MySQL's and MariaDB's sessions that do not end by their clients' will, by what the global status counts."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.case import Case
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

ABORTED: Final = "global_status.aborted_clients"
BEGUN: Final = "global_status.connections"
RAN: Final = "init_connect"
# As of PostgreSQL's sessions: fewer are one client that was stopped.
MANY: Final = 10.0
PART: Final = 0.1
# Of the connections that begin: with all but a few, what ends them may be part of each login.
NEARLY_ALL: Final = 0.9


def aborted_clients(case: Case) -> Iterator[Claim]:
    """What `sessions_end_badly` says of each such server."""
    for db in case.dbs:
        count, began = case.amount(ABORTED, db), case.amount(BEGUN, db)
        if count < MANY or count < PART * began:
            continue
        part = min(count / began, 1.0) if began else 0.0
        by_init_connect = part >= NEARLY_ALL and bool(case.setting(RAN, db))
        yield Claim(
            phrase("{:.0f} connections of {} were aborted{}", count, db,
                   ": init_connect, most likely, which each new one has to run" if by_init_connect else ""),
            impact=NOT_MEASURED,
            confidence=0.8 if by_init_connect else 0.6,
            severity="critical" if by_init_connect else "note",  # clients that never say good-bye may have been served
            for_=[
                Evidence("statistic", f"name = '{ABORTED}' and db = '{db}'", phrase("{:.0f} aborted", count),
                         phrase("{:share} of {:.0f} that began", PART, began),
                         "by the server, or by a client that left without a word: a program that ends without closing "
                         "its connection does so each time", "at_least"),
                *([Evidence("setting", f"name = '{RAN}' and db = '{db}'", "init_connect is set", "",
                            "a connection of a user without CONNECTION_ADMIN (SUPER) is closed where its statement "
                            "fails; sessions that were there before, and administrators, do not run it")]
                  if by_init_connect else []),
            ],
            database=db,
        )  # fmt: skip
