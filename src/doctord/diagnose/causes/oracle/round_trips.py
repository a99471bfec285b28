"""Round trips of a client that asks again and again for a little."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.latency.map import LatencyMap, histograms_of, subjects
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import OF_A_SESSION
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase

FROM_CLIENT = "SQL*Net message from client"
FETCHES = "v$sqlstats.fetches"
MANY = 100
# Nine of ten within a fifth of each other: a line's latency. People and programs that work between two calls vary more.
EVEN = 1.2
# Once around the earth and back; a sleep or a poll is longer.
LONGEST_S = 0.25
MOST_OF_THE_TIME = 0.5
CLIENT = NotMeasured(
    "what the client does between two calls",
    "the server's trace sees that it waits for the client, not why",
    "ping between the two, a trace of the client (strace -T -p PID), its array or fetch size",
)


@cause()
def round_trips_many(case: Case) -> Iterator[Claim]:
    """A session spends its time on the way to the client and back, once for each few rows.

    Looks like: in a trace of one session, hundreds of waits "SQL*Net message from client" of the same length, which are
        most of its time. The database calls it idle.
    Hurts because: each fetch or single-row statement waits for the network once; rows that are ready stay where they
        are.
    Speaks for it: number, mean and evenness of the waits, rows for each fetch.
    Speaks against it: lengths that vary: then the client works, or a person thinks.
    Remedy: Fetch more rows at a time (arraysize in SQL*Plus, defaultRowPrefetch or setFetchSize in JDBC), insert in
        batches, put the loop into one statement or PL/SQL; move the client nearer.
    Verify: Another trace: fewer round trips for the same rows, and the elapsed time falls with them.
    Source: C. Millsap and J. Holt, "Optimizing Oracle Performance", 2003, chapter 11 (SQL*Net message from client);
        Oracle Database Net Services Administrator's Guide 19c, "Optimizing Performance".
    """
    if not case.figures(OF_A_SESSION):
        return
    rows = case.dataset.frame("wait").filter((pl.col("event") == FROM_CLIENT) & (pl.col("interval_s") > 0))
    waited_s = rows.select((pl.col("average_active_sessions") * pl.col("interval_s")).sum()).item() or 0.0
    share = min(waited_s / case.seconds, 1.0) if case.seconds else 0.0
    for drawn in _trips(case):
        count, mean_s = drawn.whole.total, drawn.whole.time.us / 1e6 / drawn.whole.total
        if share < MOST_OF_THE_TIME or count < MANY or mean_s > LONGEST_S or not _is_even(drawn):
            continue
        per_fetch = _rows_per_fetch(case)
        yield Claim(
            phrase("{:,} round trips of {:time} each are {:share} of the time traced", count, mean_s, share),
            impact=NOT_MEASURED,
            confidence=0.75,
            for_=[
                Evidence("latency", f"subject = '{FROM_CLIENT}'", phrase("{:,} waits of {:time}", count, mean_s),
                         phrase("nine of ten within a factor of {:.1f}", EVEN), "as even as a line, not as a person"),
                *([Evidence("statement", "rows_per_s is not null", phrase("{:.0f} rows a fetch", per_fetch), "",
                            "more at a time would need fewer round trips")] if per_fetch else []),
            ],
            not_measured=[CLIENT],
        )  # fmt: skip


def _trips(case: Case) -> Iterator[LatencyMap]:
    for subject in subjects(case.dataset, "histogram"):
        if subject.name == FROM_CLIENT:
            yield from histograms_of(case.dataset, subject)


def _rows_per_fetch(case: Case) -> float | None:
    seconds = pl.col("interval_s")
    fetched = case.dataset.frame("statement").select((pl.col("rows_per_s") * seconds).sum()).item()
    figures = case.dataset.frame("statistic").filter(pl.col("name") == FETCHES)
    fetches = figures.select((pl.col("value") * seconds).sum()).item()
    return fetched / fetches if fetched and fetches else None


def _is_even(drawn: LatencyMap) -> bool:
    low, high = drawn.whole.quantile(0.05), drawn.whole.quantile(0.95)
    return low is not None and high is not None and low.us > 0 and high.us <= EVEN * low.us
