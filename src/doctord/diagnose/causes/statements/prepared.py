"""Transactions that have done their work and stand in their commit, as InnoDB's monitor shows them at one moment."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

PREPARED, LONGEST = "innodb_status.prepared", "innodb_status.prepared_longest"
# One prepared transaction may be an XA one, whose client decides; several of a second each stand in a queue.
SEVERAL, LONG_S = 4.0, 1.0


def standing_commits(case: Case) -> Iterator[Claim]:
    """Commits that stood still when somebody looked; how long each takes in the end, a moment does not tell."""
    longest = {figure.db: figure.largest for figure in case.figures(LONGEST)}
    for prepared in case.figures(PREPARED):
        open_s = longest.get(prepared.db, 0.0)
        if prepared.largest < SEVERAL or open_s < LONG_S:
            continue
        yield Claim(
            phrase("{:.0f} transactions stand in their commit, the oldest {:.0f s} old", prepared.largest, open_s),
            impact=NOT_MEASURED,
            confidence=0.75,
            for_=[
                Evidence("statistic", f"name = '{PREPARED}'", phrase("{:.0f} transactions prepared", prepared.largest),
                         phrase("{:.0f}", SEVERAL), "their work is done: they wait for the log, or for one another",
                         "at_least"),
                Evidence("statistic", f"name = '{LONGEST}'", phrase("{:.0f s}", open_s), phrase("{:.0f s}", LONG_S),
                         "a commit is one write of the log", "at_least"),
            ],
            database=prepared.db,
        )  # fmt: skip
