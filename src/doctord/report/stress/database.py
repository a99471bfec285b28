"""A load test: its JSON document (docs/reference/stress.md), and the same to be read on a terminal."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from rich.text import Text

from doctord.analyse.capacity.load.scaling import Scaling
from doctord.analyse.stress.reads import Reads
from doctord.app.stress.database import LOOSE, Ran, Stress
from doctord.report import wording
from doctord.report.lines import hanging, heading, printed, table
from doctord.stress.pgbench import Given
from doctord.units import number

VERSION: Final = 1
SHARES: Final = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
COLUMNS: Final = ("offered/s", "done/s", *(f"{name} ms" for name, _ in SHARES), "max ms", "")


def document(found: Stress) -> dict[str, Any]:
    """What `doctord stress database --json` gives."""
    knee, limit, scaling, queue = found.knee, found.limit, found.scaling, found.queue
    return {
        "schema_version": VERSION,
        "server_version": found.version,
        "kit": found.asked.kit.name,
        "about": found.asked.kit.about,
        "seed": found.asked.seed,
        "p99_limit_ms": found.limit_ms,
        "ceiling_per_s": found.ceiling.achieved_per_s,
        "probes": [_given(one) for one in found.probes],
        "steps": [_step(ran) for ran in found.steps],
        "knee": {"per_s": knee.load and asdict(knee.load), "is_reached": knee.is_reached},
        "limit": limit
        and {"from_per_s": limit[0], "cause": limit[1].findings[0].cause, "says": wording.verdict(limit[1])},
        "scaling": scaling_document(scaling, "peak_clients"),
        "service_ms": None
        if queue.why
        else {key: value and value * 1000 for key, value in asdict(queue.service).items()},
        "saturation_per_s": None if queue.why else asdict(queue.saturation),
        "reads": found.reads and _reads(found.reads),
        "stopped": found.stopped or None,
    }


def scaling_document(scaling: Scaling, peak: str) -> dict[str, Any]:
    """The law of scaling, with its peak under a name of its own."""
    return {
        "sigma": None if scaling.why else asdict(scaling.sigma),
        "kappa": None if scaling.why else asdict(scaling.kappa),
        peak: scaling.users and asdict(scaling.users),
        "why": scaling.why or None,
    }


def _given(given: Given) -> dict[str, Any]:
    return {
        "offered_per_s": given.offered_per_s,
        "clients": given.clients,
        "seconds": given.seconds,
        "achieved_per_s": given.achieved_per_s,
        "keeps_up": given.keeps_up,
        **{f"{name}_ms": in_ms(given.latencies.quantile_us(share)) for name, share in SHARES},
        "max_ms": in_ms(given.latencies.largest_us()),
        "failed": given.failed,
        "late_ms": None if given.late_s is None else given.late_s * 1000,
        "generator_cpu_s": given.cpu_s,
    }


def _step(ran: Ran) -> dict[str, Any]:
    says = wording.verdict(ran.diagnosis) if ran.diagnosis else None
    return {**_given(ran.given), "cause": ran.cause, "says": says, "reads": ran.reads and _reads(ran.reads)}


def _reads(reads: Reads) -> dict[str, Any]:
    return {
        "blocks_per_s": reads.blocks / reads.seconds,
        "device_bytes_per_s": None if reads.device_bytes is None else reads.device_bytes / reads.seconds,
        "cached_share": reads.cached_share,
        "is_pitfall": reads.is_pitfall,
    }


def in_ms(us: float | None) -> float | None:
    """Milliseconds of microseconds; null of what is not known."""
    return None if us is None else us / 1000


def render(found: Stress, width: int | None = None, *, colour: bool | None = None) -> str:
    """The load test as lines of text."""
    return printed(lambda columns: _page(found, columns), width, colour=colour)


def _page(found: Stress, width: int) -> Iterator[Text]:
    yield from hanging("", Text(_knee(found), style="bold"), width)
    if limit := found.limit:
        yield from hanging("", f"From {limit[0]:,.0f} a second on the limit is: {wording.verdict(limit[1])}", width)
    elif found.steps:
        yield from hanging("", "No cause was found at any step that was not there at the least load", width)
    if (reads := found.reads) and reads.is_pitfall:
        yield from hanging("", Text(_pitfall(reads), style="bold yellow"), width)
    if found.stopped:
        yield from hanging("", f"Not all steps were given: {found.stopped}", width)
    note = f"PostgreSQL {found.version}, {found.asked.kit.about}"
    yield from heading("Steps", width, f"latency from when each was due; {found.asked.repeats} repeats")
    yield from table(COLUMNS, [_row(found, load) for load in sorted({_load(ran) for ran in found.steps})], width)
    yield from heading("Ceiling", width, "closed loops, each client as fast as it can")
    yield from table(("clients", "done/s", "p50 ms", "p99 ms", ""), list(map(_probe, found.probes)), width)
    yield from heading("How it scales", width)
    yield from hanging("  ", scaling_words(found.scaling, "clients"), width)
    yield from hanging("  ", _queue(found), width)
    yield from hanging("  ", note, width)


def _knee(found: Stress) -> str:
    knee = found.knee
    level = f"99 of 100 transactions within {number(found.limit_ms)} ms"
    if found.asked.limit_ms is None:
        level += f" ({LOOSE:g} times those of the least load: --p99 sets it)"
    if knee.load is None:
        return f"No load that was given holds {level}"
    if not knee.is_reached:
        return f"At least {knee.load.value:,.0f} transactions a second: {level}; more was not tried"
    low, high = knee.load.low, knee.load.high or knee.load.value
    return f"{knee.load.value:,.0f} transactions a second ({low:,.0f} to {high:,.0f}): {level}"


def _pitfall(reads: Reads) -> str:
    share = 100 * (reads.cached_share or 0)
    return (
        f"This was no test of the disk: the page cache answered {share:.0f} % of {reads.blocks / reads.seconds:,.0f} "
        "blocks/s that the server read. A working set larger than memory (--size) reaches the disk"
    )


def _load(ran: Ran) -> float:
    return float(ran.given.offered_per_s or 0)


def _row(found: Stress, load: float) -> list[str]:
    several = [ran for ran in found.steps if _load(ran) == load]
    step = next(one for one in found.by_load if one.offered_per_s == load)
    done = sum(ran.given.achieved_per_s for ran in several) / len(several)
    told = [wording.verdict(ran.diagnosis) for ran in several if ran.diagnosis and ran.cause]
    says = told[0] if told else ""
    if not step.keeps_up:
        says = f"does not keep up; {says}".rstrip("; ")
    if failed := sum(ran.given.failed for ran in several):
        says = f"{failed:,} failed; {says}".rstrip("; ")
    quantiles = [shown_ms(step.latencies.quantile_us(share)) for _, share in SHARES]
    return [f"{load:,.0f}", f"{done:,.0f}", *quantiles, shown_ms(step.latencies.largest_us()), says]


def _probe(given: Given) -> list[str]:
    quantiles = (shown_ms(given.latencies.quantile_us(share)) for share in (0.5, 0.99))
    return [str(given.clients), f"{given.achieved_per_s:,.0f}", *quantiles, ""]


def shown_ms(us: float | None) -> str:
    """The same to be read; a dash for what is not known."""
    return "-" if us is None else number(us / 1000)


def scaling_words(scaling: Scaling, what: str) -> str:
    """The law of scaling in a line."""
    if scaling.why:
        return f"With {what}: not told ({scaling.why})"
    shares = f"contention {scaling.sigma.value:.2g}, coherency {scaling.kappa.value:.2g}"
    if scaling.users is None:
        return f"With {what} ({shares}): the peak was not reached"
    return f"With {what} ({shares}): the peak is at {scaling.users.value:.0f}"


def _queue(found: Stress) -> str:
    queue = found.queue
    if queue.why:
        return f"With the load: not told ({queue.why})"
    service = number(queue.service.value * 1000)
    return f"A transaction takes {service} ms without a queue; saturation at {queue.saturation.value:,.0f} a second"
