"""What histories say that were kept by hand: limits that are passed, space that runs out, requests over their limit."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.capacity.contradictions import contradictions
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, phrase, place_in

TARGET: Final = "target"
OF_WAITS: Final = "wait.avg_wait_ms"
# A tablespace is given files within a fortnight in most shops; what lasts longer is the forecast's to tell.
SOON_DAYS: Final = 14.0
DAY_S: Final = 86400.0
# From fewer days a growth is one load's, not a habit.
LEAST_DAYS: Final = 2.0
MOST_NAMED: Final = 8


class Limit(NamedTuple):
    """A figure that has a limit: its name, the wait event that it is of, its last value, the limit, and their unit."""

    name: str
    event: str | None
    value: float
    limit: float
    unit: str

    def evidence(self) -> Evidence:
        """The figure against its limit; seconds are shown as what they are, other units as they are written."""
        place = "{:time}" if self.unit == "s" else place_in(".3g", self.unit)
        return Evidence(
            "wait" if self.event else "statistic",
            f"event = '{self.event}'" if self.event else f"name = '{self.name}'",
            phrase(f"{{}}: {place}", self.event or self.name, self.value),
            phrase(place, self.limit),
            "above its limit",
            "at_least",
        )


@cause()
def kept_limit_passed(case: Case) -> Iterator[Claim]:
    """A figure is above the limit that its keeper wrote beside it.

    Looks like: a table of waits or figures with a column target, threshold or limit, and values above it.
    Hurts because: the limit was set while users were content; above it they may be so no longer.
    Speaks for it: the last value of each against its limit.
    Speaks against it: figures that keep theirs. A limit of zero for what came up lately says only that it is new.
    Remedy: Begin with what passes its limit by most of the time waited; see what changed since it kept it. Where users
        are content all the same, set the limit anew (doctord thresholds init).
    Verify: The figure is below its limit at the same load.
    Source: K. Manoharan, 2008: collect, profile, set thresholds while users are content, watch, act by a plan.
    """
    limits = _limits(case)
    passed = [one for one in limits if one.value > one.limit]
    kept = len(limits) - len(passed)
    if not passed:
        return
    yield Claim(
        phrase("{} of {} figures are above the limits that were set for them", len(passed), len(limits)),
        impact=NOT_MEASURED,
        confidence=0.85,
        for_=[one.evidence() for one in passed],
        against=[Evidence("statistic", f"component = '{TARGET}'", phrase("{} figures keep their limits", kept), "", "")]
        if kept
        else [],
    )


@cause()
def tablespace_full_soon(case: Case) -> Iterator[Claim]:
    """A tablespace or database runs out of space within days, as it grew lately.

    Looks like: used space that grows from day to day, and little that is left.
    Hurts because: once it is full, every change that needs a block there fails (ORA-01653, could not extend).
    Speaks for it: growth a day, and what is left.
    Speaks against it: days of growth too few to tell a habit from one load; files that extend themselves.
    Remedy: Add a file or raise the limit before that day; see which segments grow and whether old rows may go.
    Verify: What is left, divided by the growth a day, is months again (doctord forecast).
    Source: K. Manoharan, 2008 (daily space of tablespaces); Oracle Database Administrator's Guide 19c, "Managing
        Tablespaces".
    """
    for db, name, grown, days, left in sorted(_growing(case), key=lambda row: row[4] / row[2]):
        lasts = left / grown
        if lasts <= SOON_DAYS:
            yield Claim(
                phrase("{} is full in {:.0f} days", name, lasts),
                impact=NONE_YET,
                severity="warning",
                confidence=0.6 if days < 7 else 0.85,
                for_=[
                    Evidence("space", f"name = '{name}'", phrase("{:bytes} more a day", grown), "",
                             phrase("{:bytes} is left; from {:.0f} days of history", left, days)),
                ],
                not_measured=[
                    NotMeasured(phrase("whether the files of {} extend themselves", name), "the file does not say it",
                                "autoextensible and maxbytes of dba_data_files"),
                ] if db and db.startswith("oracle") else [],
            )  # fmt: skip


@cause()
def requests_over_limit(case: Case) -> Iterator[Claim]:
    """Requests took longer than the service level allows.

    Looks like: runs or days with a number of requests over a limit of time.
    Hurts because: each of them is a user who waited that long, or was timed out.
    Speaks for it: requests over the limit, scaled to 24 hours where another length of time was measured.
    Speaks against it: runs without any.
    Remedy: Find what these requests waited for at their time: the findings on waits, CPU, memory and disks of the same
        hours. Agree on how many a day are tolerable, and watch that (doctord thresholds check).
    Verify: The number in 24 hours at the same load.
    Source: J. Doelle and S. Langer, "Analyzing BI Oracle workloads", IBM, 2012 (at most 30 over 60 s in 24 h).
    """
    runs = case.dataset.frame("timing").filter(pl.col("over_limit").is_not_null() & (pl.col("duration_s") > 0))
    daily = runs.with_columns(daily=pl.col("over_limit") * DAY_S / pl.col("duration_s")).sort(
        "daily", descending=True, maintain_order=True
    )
    over = [row for row in daily.iter_rows(named=True) if row["over_limit"] > 0]
    none = [str(row["run"]) for row in daily.iter_rows(named=True) if not row["over_limit"]]
    if not over:
        return
    yield Claim(
        phrase("{} requests of {} took too long: {:.1f} in 24 h", over[0]["over_limit"], over[0]["run"] or "the run",
               over[0]["daily"]),
        impact=NOT_MEASURED,
        confidence=0.6,
        for_=[
            Evidence("timing", f"run = '{row['run']}'",
                     phrase("{}: {} over the limit in {:.4g h}", row["run"] or "the run", row["over_limit"],
                            row["duration_s"] / 3600),
                     "", phrase("{:.1f} in 24 h", row["daily"]))
            for row in over[:MOST_NAMED]
        ],
        against=[Evidence("timing", f"run = '{run}'", phrase("{}: none over the limit", run), "", "") for run in none],
        not_measured=[
            NotMeasured("how many a day are tolerable", "no service level is told",
                        "a [[level]] with most_per_24h in the file of doctord thresholds check --thresholds")
        ],
    )  # fmt: skip


@cause()
def waits_contradict(case: Case) -> Iterator[Claim]:
    """A table of waits contradicts itself: its mean is not its time by its number.

    Looks like: total time, waits and mean wait of one event, of which each two give another third.
    Hurts because: a verdict from either of them may be wrong by that factor: neither is used.
    Speaks for it: the mean as it is told, and as it follows from time and waits.
    Speaks against it: nothing: one of the three columns is not what its heading says.
    Remedy: Look how the columns were made (units, a column of another interval), and export them again.
    Verify: Time waited divided by waits is the mean, but for rounding.
    Source: K. Manoharan's daily waits, 2008, in which 6,033,377 cs by 1,838,346 waits stands beside 0.8 cs.
    """
    found = contradictions(case.dataset.frame("wait"))
    if found:
        yield Claim(
            phrase("The waits of {} contradict themselves: they are not used", _names([one.entity for one in found])),
            impact=NOT_MEASURED,
            confidence=0.95,
            severity="note",
            for_=[
                Evidence("wait", f"event = '{one.entity}'", phrase("{:.3g ms} is told as the mean", one.said_ms),
                         phrase("{:.3g ms} from time and waits", one.reckoned_ms),
                         phrase("{} rows", one.rows) if one.rows > 1 else "")
                for one in found[:MOST_NAMED]
            ],
        )  # fmt: skip


def _names(names: list[str]) -> Phrase:
    more = len(names) - 1
    return phrase("{} and {} more", names[0], more) if more else phrase("{}", names[0])


def _limits(case: Case) -> list[Limit]:
    """Figures that were measured and have a limit."""
    targets = case.dataset.frame("statistic").filter((pl.col("component") == TARGET) & pl.col("value").is_not_null())
    latest = targets.sort("ts", maintain_order=True).select("name", "entity", "value", "unit")
    rows = latest.unique(("name", "entity"), keep="last", maintain_order=True)
    told = ((_last(case, name, event), name, event, limit, unit) for name, event, limit, unit in rows.iter_rows())
    return [Limit(name, event, value, limit, unit or "") for value, name, event, limit, unit in told
            if value is not None]  # fmt: skip


def _last(case: Case, name: str, event: str | None) -> float | None:
    if name == OF_WAITS:
        waits = case.dataset.frame("wait").filter(pl.col("event") == event)
        values = waits.sort("ts", maintain_order=True)["avg_wait_ms"].drop_nulls()
    else:
        own = (pl.col("component") != TARGET) & (pl.col("name") == name)
        values = case.dataset.frame("statistic").filter(own).sort("ts", maintain_order=True)["value"].drop_nulls()
    return float(values[-1]) if values.len() else None


def _growing(case: Case) -> list[tuple[str | None, str, float, float, float]]:
    """Tablespaces and databases that grow: server, name, bytes a day, days of history, bytes left."""
    space = case.dataset.frame("space").filter(
        pl.col("kind").is_in(["tablespace", "database"]) & pl.col("used_bytes").is_not_null()
    )
    ends = (
        space.sort("ts", maintain_order=True)
        .group_by("db", "name", maintain_order=True)
        .agg(
            days=(pl.col("ts").last() - pl.col("ts").first()).dt.total_seconds() / DAY_S,
            grown=(pl.col("used_bytes").last() - pl.col("used_bytes").first()),
            left=pl.col("available_bytes").last(),
        )
        .filter((pl.col("days") >= LEAST_DAYS) & (pl.col("grown") > 0) & pl.col("left").is_not_null())
    )
    return [(db, str(name), grown / days, days, float(left)) for db, name, days, grown, left in ends.iter_rows()]
