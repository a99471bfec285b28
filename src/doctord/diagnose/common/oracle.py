"""Evidence from what Oracle counts of itself: statistics, segments, statements."""

from doctord.analyse.figures import Statistic
from doctord.analyse.host.processors import processors
from doctord.diagnose.case import Case
from doctord.diagnose.evidence import Sign
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

# An event that takes less than a hundredth of the time adds nothing to the evidence of its neighbours.
WORTH_NAMING_SHARE = 0.01
MOST_NAMED = 3
# Told by traces of sessions, and by nothing else.
OF_A_SESSION = "v$sess_time_model.DB time"


def time_model(case: Case, line: str) -> float | None:
    """A line of Oracle's time model as a share (0 to 1) of database time; null when it was not measured.

    Lines overlap: parsing contains hard parsing, and each contains what it waited for.
    """
    return per(case, f"v$sys_time_model.{line}", "v$sys_time_model.DB time")


def idle_pct(case: Case) -> float | None:
    """Idle time of the host; with an I/O outstanding it is idle all the same.

    Null also where it is that of threads on busy cores, or of a partition that used all it may: nobody could have it.
    """
    cpus, idle = processors(case.dataset), case.mean("cpu", "idle_pct")
    if cpus.in_cores and (cpus.all_cores_busy or cpus.used_up):
        return None
    return None if idle is None else idle + (case.mean("cpu", "wait_io_pct") or 0.0)


def holders_ran(case: Case) -> Sign:
    """Whether those who held latches and mutexes had a CPU to run on; else waits for them are waits for a CPU."""
    return Sign("cpu", "cpu is null", idle_pct(case), 10.0, "{:.0f %} of the CPU time idle",
                "the holders were running", "holders that wait for a CPU may be all there is to it")  # fmt: skip


def counted(case: Case, name: str, words: str, threshold: Words = "", why: Words = "") -> list[Evidence]:
    """A statistic in the caller's words, all instances together; nothing when it was not measured."""
    value = case.total(name)
    return [] if value is None else [Evidence("statistic", f"name = '{name}'", phrase(words, value), threshold, why)]


def per(case: Case, name: str, other: str) -> float | None:
    """How much of one statistic there is for each of another; null when either is unknown, or there is none."""
    value, count = case.total(name), case.total(other)
    return value / count if value is not None and count else None


def leaders(case: Case, name: str, why: str, most: int = MOST_NAMED) -> list[Evidence]:
    """The entities (segments, latches, statements) with most of a statistic: each with its part of what is listed."""
    found = [figure for figure in case.figures(name) if figure.mean > 0 and figure.entity]
    total = sum(figure.mean for figure in found)
    return [_leader(case, figure, total, why) for figure in found[:most]]


def readers(case: Case, most: int = MOST_NAMED) -> list[Evidence]:
    """The statements that read most blocks."""
    reading = [(one.read_blocks_per_s, one) for one in case.statements if one.read_blocks_per_s]
    total = case.total("v$sysstat.physical reads")
    return [
        Evidence(
            "statement",
            f"statement_id = '{one.statement_id}'",
            phrase(
                "{}: {}",
                one.statement_id or "",
                listed(phrase("{:rate blocks}", blocks), phrase("{:share} of all", blocks / total) if total else ""),
            ),
            "",
            phrase("a statement that reads: {}", shortened(one.text or "")),
        )
        for blocks, one in sorted(reading, key=lambda pair: -pair[0])[:most]
    ]


def _leader(case: Case, figure: Statistic, total: float, why: str) -> Evidence:
    view, _, what = figure.name.partition(".")
    text = case.statement_text(figure.entity) if view == "v$sqlstats" else None
    amount = phrase("{:rate}", figure.mean) if figure.unit == "per_s" else phrase("{:.3g} {}", figure.mean, figure.unit)
    return Evidence(
        "statistic",
        f"name = '{figure.name}' and entity = '{figure.entity}'",
        phrase("{}: {}, {:share} of the {} listed", figure.entity, amount, figure.mean / total, what),
        "",
        phrase("{}: {}", why, shortened(text)) if text else why,
    )


def parsing_parts(case: Case) -> list[Evidence]:
    """What parsing consists of, by the time model's finer lines."""
    lines = (
        "hard parse (sharing criteria) elapsed time",
        "hard parse (bind mismatch) elapsed time",
        "failed parse elapsed time",
        "failed parse (out of shared memory) elapsed time",
    )
    parts = [
        (line, part) for line in lines if (part := time_model(case, line)) is not None and part >= WORTH_NAMING_SHARE
    ]
    return [
        Evidence(
            "statistic", f"name = 'v$sys_time_model.{line}'", phrase("{}: {:share}", line, part), "", "of database time"
        )
        for line, part in parts
    ]
