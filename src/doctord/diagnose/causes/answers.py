"""Whether a server answers at all."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase


@cause()
def server_does_not_answer(case: Case) -> Iterator[Claim]:
    """A database server takes connections or requests, and does not answer them.

    Looks like: a login or a statement that needs no lock and no disk is given up after seconds without a word.
    Hurts because: clients wait as we did and pools fill with them; and nothing else shows it, for a server that hangs
        has no session at work.
    Speaks for it: the time for which it was asked and gave no answer.
    Speaks against it: it answered at other times; it was then overloaded rather than hung.
    Remedy: Look whether its processes are stopped (state T of ps: kill -CONT), are in the kernel (state D: storage,
        NFS) or wait for a CPU; whether something else listens on its port; whether a firewall drops what is sent.
    Verify: It answers a login within milliseconds, and no new event `no answer` is recorded.
    Source: PostgreSQL documentation, connect_timeout, tcp_user_timeout; B. Gregg, "Systems Performance", 2nd ed., 2020.
    """
    events = case.dataset.frame("event").filter((pl.col("kind") == "no answer") & (pl.col("interval_s") > 0))
    for (db,), told in sorted(events.partition_by("db", as_dict=True).items(), key=lambda item: str(item[0])):
        silent_s = _covered_s(told)
        seconds = max(case.seconds, silent_s)
        yield Claim(
            phrase("{} did not answer for {:.0f} of {:.0f s}", db, silent_s, seconds),
            impact=silent_s / seconds,
            confidence=0.95,
            for_=[
                Evidence(
                    "event",
                    f"kind = 'no answer' and db = '{db}'",
                    phrase("{:.1f s} without an answer", silent_s),
                    "an answer within 3 s",
                    str(told["text"].drop_nulls().last() or "it was asked, and waited for"),
                )
            ],
            against=_answers(case, str(db)),
            time_of="interval",
        )


def _covered_s(events: pl.DataFrame) -> float:
    """Seconds that intervals cover together: two collectors tell of the same silence."""
    ends = events.select(end=pl.col("ts").dt.epoch("us") / 1e6, length=pl.col("interval_s"))
    covered, until = 0.0, float("-inf")
    for begin, end in sorted((end - length, end) for end, length in ends.iter_rows()):
        covered += max(0.0, end - max(begin, until))
        until = max(until, end)
    return covered


def _answers(case: Case, db: str) -> list[Evidence]:
    answers = case.dataset.frame("statistic").filter(pl.col("db") == db)["ts"].n_unique()
    if not answers:
        return []
    return [
        Evidence(
            "statistic", f"db = '{db}'", phrase("it answered {} times", answers), "", "it hangs at times, not always"
        )
    ]
