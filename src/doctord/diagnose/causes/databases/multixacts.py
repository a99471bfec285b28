"""Multixacts: numbers for several holders of one row lock, which run out like transaction ids, and apart from them."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import phrase

AGE = "pg_database.datminmxid_age"
# Half of the 2^31 that may lie between the oldest and the newest; with 3 million left the server stops.
ALARM, STOPS, LIMIT = 1_000_000_000, 2**31 - 3_000_000, 2**31


@cause()
def multixact_age(case: Case) -> Iterator[Claim]:
    """The oldest multixact grows old: the server will refuse row locks that several transactions share.

    Looks like: mxid_age(datminmxid) far beyond autovacuum_multixact_freeze_max_age, while age(datfrozenxid) may be
        small.
    Hurts because: at about 2.1 billion no new multixact is made: foreign keys' checks and SELECT ... FOR SHARE fail,
        and with them inserts; their members take many gigabytes under pg_multixact before, and have a limit of their
        own.
    Speaks for it: the age, against what there is in all.
    Speaks against it: a vacuum to prevent wraparound that is making progress.
    Remedy: Find what holds vacuum back (old transactions, prepared ones, slots), end it, and vacuum the tables with
        the oldest relminmxid (order by mxid_age(relminmxid)). Then: fewer transactions that lock the same row at
        once.
    Verify: mxid_age(datminmxid) falls.
    Source: PostgreSQL documentation, "Multixacts and Wraparound".
    """
    oldest = max(case.figures(AGE), key=lambda figure: figure.last, default=None)
    if oldest is None or oldest.last < ALARM:
        return
    yield Claim(
        phrase("Database {} has used {:share} of the multixacts that it may", oldest.entity, oldest.last / LIMIT),
        impact=NONE_YET,
        severity="critical" if oldest.last >= STOPS else "warning",
        confidence=0.95,
        for_=[Evidence("statistic", f"name = '{AGE}'", phrase("age {:,.0f}", oldest.last), phrase("{:,}", ALARM), "",
                       "at_least")],
        database=oldest.db,
    )  # fmt: skip
