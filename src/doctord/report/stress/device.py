"""A load test of storage: its JSON document (docs/reference/stress.md), and the same to be read on a terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from rich.text import Text

from doctord.analyse.capacity.load.estimate import Estimate
from doctord.analyse.stress.page_cache import FAST_US, Moved
from doctord.analyse.study.difference import Difference
from doctord.app.stress.database import LOOSE
from doctord.app.stress.device_asked import Series
from doctord.app.stress.device_found import DeviceStress, Ran
from doctord.report import wording
from doctord.report.lines import hanging, heading, printed, table
from doctord.report.stress.database import SHARES, VERSION, in_ms, scaling_document, scaling_words, shown_ms
from doctord.stress.fio import Done
from doctord.units import in_bytes, in_latency, in_share, number, quantity

MIB: Final = 1 << 20
FIGURES: Final = ("IOPS", "MiB/s", "p50 ms", "p99 ms", "max ms", "queue", "")
HEADINGS: Final[dict[Series, tuple[str, str, str]]] = {
    "depth": ("Depth", "depth", "closed: the next request begins when one ends"),
    "rate": ("Rate", "due/s", "open: requests due at random moments"),
    "block": ("Block size", "block", "at the depth that is enough"),
    "mix": ("Reads and writes", "reads", "at the depth that is enough"),
    "beneath": ("File system and device", "of", "the same blocks, in turn"),
    "sustained": ("Sustained writes", "depth", "until the rate is level"),
}


def document(found: DeviceStress) -> dict[str, Any]:
    """What `doctord stress device --json` gives."""
    knee, rates, limit, target = found.depth_knee, found.rate_knee, found.limit, found.target
    cost = found.cost_of_file_system
    return {
        "schema_version": VERSION,
        "fio_version": found.version,
        "target": {"name": target.name, "kind": target.kind, "size_bytes": target.size_bytes, "device": target.device},
        "is_direct": found.asked.is_direct,
        "block_bytes": found.asked.block_bytes,
        "read_pct": found.asked.read_pct,
        "seed": found.asked.seed,
        "depth": knee
        and {
            "per_s": asdict(knee.per_s),
            "knee": asdict(knee.depth),
            "enough": knee.enough,
            "is_reached": knee.is_reached,
        },
        "rate": rates
        and {
            "p99_limit_ms": found.limit_ms,
            "per_s": rates.load and asdict(rates.load),
            "is_reached": rates.is_reached,
        },
        "limit": limit and {"at": limit[0].done.job.name, "cause": limit[0].cause, "says": wording.verdict(limit[1])},
        "scaling": scaling_document(found.scaling, "peak_depth"),
        "file_system": cost and {"share": cost.ratio, "low": cost.low, "high": cost.high},
        "pitfall": found.pitfall and _pitfall_document(found.pitfall),
        "steps": [_step(ran) for ran in found.steps],
        "stopped": found.stopped or None,
    }


def _pitfall_document(moved: Moved) -> dict[str, Any]:
    return {
        "cached_share": moved.cached_share,
        "fits_in_memory": moved.fits,
        "more_than_a_disk_does": moved.is_too_much,
        "faster_than_a_device": moved.is_too_fast,
    }


def _step(ran: Ran) -> dict[str, Any]:
    done, moved = ran.done, ran.moved
    return {
        "series": ran.series,
        "path": done.job.path if ran.series == "beneath" else None,
        "depth": done.job.depth,
        "offered_per_s": done.job.rate_per_s,
        "block_bytes": done.job.block_bytes,
        "read_pct": done.job.read_pct,
        "seconds": done.seconds,
        "per_s": done.per_s,
        "bytes_per_s": done.bytes_per_s,
        "keeps_up": done.keeps_up,
        **_latencies(done),
        "outstanding": done.outstanding,
        "device_queue": ran.queue,
        "device_bytes_per_s": moved.device_bytes / done.ran_s
        if moved.device_bytes is not None and done.ran_s
        else None,
        "errors": done.errors,
        "is_steady": done.is_steady,
        "generator_cpu_s": done.cpu_s,
        "cause": ran.cause,
        "says": wording.verdict(ran.diagnosis) if ran.diagnosis else None,
    }


def _latencies(done: Done) -> dict[str, Any]:
    """Of all requests, and of a mix of reads and writes each."""
    held = {"": done.latencies, **(done.by_direction if len(done.by_direction) > 1 else {})}
    return {
        f"{way}{'_' if way else ''}{name}_ms": in_ms(value)
        for way, one in held.items()
        for name, value in (*((name, one.quantile_us(share)) for name, share in SHARES), ("max", one.largest_us()))
    }


def render(found: DeviceStress, width: int | None = None, *, colour: bool | None = None) -> str:
    """The load test as lines of text."""
    return printed(lambda columns: _page(found, columns), width, colour=colour)


def _page(found: DeviceStress, width: int) -> Iterator[Text]:
    for line in _verdict(found):
        yield from hanging("", Text(line, style="bold"), width)
    if limit := found.limit:
        unit = "a second" if limit[0].series == "rate" else "outstanding"
        yield from hanging("", f"From {_label(limit[0])} {unit} on the limit is: {wording.verdict(limit[1])}", width)
    elif found.steps:
        yield from hanging("", "No cause was found at any step that was not there at the least load", width)
    if moved := found.pitfall:
        yield from hanging("", Text(_pitfall(moved), style="bold yellow"), width)
    if found.stopped:
        yield from hanging("", f"Not all steps were given: {found.stopped}", width)
    for series, (title, name, note) in HEADINGS.items():
        if several := found.of(series):
            yield from heading(title, width, note)
            yield from table((name, *FIGURES), list(_rows(several)), width)
    yield from heading("How it scales", width)
    yield from hanging("  ", scaling_words(found.scaling, "depth"), width)
    yield from hanging("  ", _about(found), width)


def _verdict(found: DeviceStress) -> Iterator[str]:
    knee, rates = found.depth_knee, found.rate_knee
    if knee is None:
        yield "Nothing was measured"
        return
    mib_per_s = number(knee.per_s.value * found.asked.block_bytes / MIB)
    block = quantity(found.asked.block_bytes, "bytes")
    if knee.is_reached:
        yield f"At most {_with_ends(knee.per_s, 'IOPS')}: {mib_per_s} MiB/s in blocks of {block}"
        idles = f"Below {_with_ends(knee.depth, 'requests outstanding')} the device idles"
        yield (
            "One request at a time fills the device: more of them only wait"
            if knee.enough == 1
            else f"{idles}; from {knee.enough} on more of them only wait"
        )
    else:
        yield f"At least {_with_ends(knee.per_s, 'IOPS')}, {mib_per_s} MiB/s in blocks of {block}: --depth for more"
    if cost := found.cost_of_file_system:
        yield _cost(cost)
    if rates:
        level = f"99 of 100 requests within {number(found.limit_ms)} ms"
        if found.asked.limit_ms is None:
            level += f" ({LOOSE:g} times those of the least rate: --p99 sets it)"
        if rates.load is None:
            yield f"No rate that was given holds {level}"
        elif rates.is_reached:
            yield f"{_with_ends(rates.load, 'requests a second')}: {level}"
        else:
            yield f"At least {number(rates.load.value)} requests a second: {level}; more was not tried"


def _cost(cost: Difference) -> str:
    if cost.ratio is None:
        return f"What the file system costs is not told: {cost.why}"
    through = f"Through the file system {in_share(cost.ratio)} of the requests that the device beneath does"
    if cost.low is None or cost.high is None:
        return through
    return f"{through} ({in_share(cost.low)} to {in_share(cost.high)})"


def _with_ends(estimate: Estimate, what: str) -> str:
    high = estimate.value if estimate.high is None else estimate.high
    return f"{number(estimate.value)} {what} ({number(estimate.low)} to {number(high)})"


def _pitfall(moved: Moved) -> str:
    """The signs that are there, and what speaks against them."""
    signs = [
        f"the device had no part in {in_share(moved.cached_share)} of what was moved" if moved.cached_share else "",
        f"{in_bytes(moved.size_bytes)} fit into memory ({in_bytes(moved.memory_bytes or 0)})" if moved.fits else "",
        f"{number(moved.per_s)} IOPS are more than a disk does" if moved.is_too_much else "",
        f"half of the requests took less than {in_latency(FAST_US / 1e6)}" if moved.is_too_fast else "",
    ]
    advice = (
        "this file system does not pass it by" if moved.is_direct else "leave out --buffered, or a --size above memory"
    )
    told = ", ".join(filter(None, signs))
    return f"This was no test of the device, but of the page cache: {told}. {advice.capitalize()}"


def _rows(several: Sequence[Ran]) -> Iterator[list[str]]:
    """The steps in order of their load, with what the check-up says where its first cause is another than above."""
    before: str | None = None
    for ran in sorted(several, key=_order):
        says = wording.verdict(ran.diagnosis) if ran.diagnosis and ran.cause and ran.cause != before else ""
        before = ran.cause
        yield [_label(ran), *_figures(ran), "; ".join(filter(None, (_remark(ran.done), says)))]


def _figures(ran: Ran) -> list[str]:
    latencies = ran.done.latencies
    quantiles = (shown_ms(latencies.quantile_us(share)) for share in (0.5, 0.99))
    queue = "-" if ran.queue is None else number(ran.queue, 2)
    rates = (number(ran.done.per_s), number(ran.done.bytes_per_s / MIB))
    return [*rates, *quantiles, shown_ms(latencies.largest_us()), queue]


def _remark(done: Done) -> str:
    if done.job.steady_s is not None:
        steady = "level" if done.is_steady else "not level"
        return f"{steady} after {done.seconds} s"
    failed = f"{done.errors} failed" if done.errors else ""
    return failed if done.keeps_up else "; ".join(filter(None, (failed, "does not keep up")))


def _label(ran: Ran) -> str:
    job = ran.done.job
    if ran.series == "rate":
        return number(job.rate_per_s or 0)
    if ran.series == "beneath":
        return job.path if job.path.startswith("/dev/") else "file"
    if ran.series == "block":
        return quantity(job.block_bytes, "bytes")
    return f"{job.read_pct} %" if ran.series == "mix" else str(job.depth)


def _order(ran: Ran) -> tuple[float, int, int, int]:
    job = ran.done.job
    return job.rate_per_s or 0, job.depth, job.block_bytes, -job.read_pct


def _about(found: DeviceStress) -> str:
    target = found.target
    kind = {"made": "a file of our own in", "file": "the file", "device": "the device"}[target.kind]
    way = "direct" if found.asked.is_direct else "through the page cache"
    if target.device is None:
        way += "; no device is seen beneath it (a network's file system, or memory)"
    return f"{found.version}, {kind} {target.name}, {in_bytes(target.size_bytes)}, {way}; seed {found.asked.seed}"
