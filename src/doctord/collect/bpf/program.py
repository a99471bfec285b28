"""Programs for bpftrace that time spans, from one probe to another, into histograms that only grow.

Buckets are log-linear: 32 steps per power of two of a 1/1024 microsecond, an error under 1.6 % (as HdrHistogram,
G. Tene); the time of each bucket is summed beside its count, so that it is exact. The maps are printed at each interval
and never cleared: nothing is lost between printing and clearing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

STEPS = 32
TICKS_PER_US = 1024
COUNTS, TIMES = "c", "s"
ATTACHED_MS = 200

# The exponent of the highest bit by halving; then the five bits after it. 128 / 125 makes 1/1024 us of nanoseconds.
_BUCKET = """
  $u = $ns * 128 / 125; $v = $u; $e = (uint64)0;
  if ($v >= 4294967296) { $e = $e + 32; $v = $v >> 32; }
  if ($v >= 65536) { $e = $e + 16; $v = $v >> 16; }
  if ($v >= 256) { $e = $e + 8; $v = $v >> 8; }
  if ($v >= 16) { $e = $e + 4; $v = $v >> 4; }
  if ($v >= 4) { $e = $e + 2; $v = $v >> 2; }
  if ($v >= 2) { $e = $e + 1; }
  $k = $u; if ($e > 5) { $k = ($e - 5) * 32 + ($u >> ($e - 5)); }
"""


@dataclass(frozen=True, slots=True)
class Moment:
    """A probe at which spans begin or end, what tells those apart that run at the same time, and a condition."""

    probe: str
    key: str = "tid"
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """Something that lasts from one moment to another.

    `label` is what it is of, in bpftrace's words: a number, a string, or several; it becomes the subject.
    """

    begin: Sequence[Moment]
    end: Moment
    label: str = "0"


def program(spans: Sequence[Span], period_s: float, condition: str = "") -> str:
    """The program that times these spans, and prints its maps at each interval with the time of the kernel's clock.

    Args:
        spans: What to time.
        period_s: Seconds between two prints.
        condition: What the begin of each span must meet: whose it is.
    """
    maps = f'printf("%llu\\n", nsecs); print(@{COUNTS}); print(@{TIMES});'
    clears = " ".join(f"clear(@b{number});" for number in range(len(spans)))
    return "\n".join(
        [
            *(_span(number, span, condition) for number, span in enumerate(spans)),
            # BEGIN comes before the probes are attached; this, after.
            f'interval:ms:{ATTACHED_MS} /@begun == 0/ {{ @begun = 1; {maps} printf("begun\\n"); }}',
            f'interval:ms:{round(period_s * 1000)} {{ {maps} printf("printed\\n"); }}',
            f"END {{ {clears} clear(@begun); clear(@{COUNTS}); clear(@{TIMES}); }}",
        ]
    )


def _span(number: int, span: Span, condition: str) -> str:
    begins = (
        f"{moment.probe}{_if(moment.condition, condition)} {{ @b{number}[{moment.key}] = nsecs; }}"
        for moment in span.begin
    )
    start, key = f"@b{number}[{span.end.key}]", f"{number}, {span.label}, $k"
    end = (
        f"{span.end.probe}{_if(span.end.condition, start)} {{\n"
        f"  $ns = nsecs - {start};{_BUCKET}"
        f"  @{COUNTS}[{key}] = count(); @{TIMES}[{key}] = sum($ns);\n"
        f"  delete({start});\n}}"
    )
    return "\n".join([*begins, end])


def _if(*conditions: str) -> str:
    held = " && ".join(f"({condition})" for condition in conditions if condition)
    return f" /{held}/" if held else ""


def edges_us(bucket: int) -> tuple[float, float]:
    """Lower and upper edge of a bucket, microseconds.

    >>> edges_us(0), edges_us(64 * 5)
    ((0.0, 0.0009765625), (16.0, 16.5))
    """
    if bucket < 2 * STEPS:
        return bucket / TICKS_PER_US, (bucket + 1) / TICKS_PER_US
    shift = bucket // STEPS - 1
    low = (bucket - shift * STEPS) << shift
    return low / TICKS_PER_US, (low + (1 << shift)) / TICKS_PER_US
