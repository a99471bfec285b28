"""Files and devices that a traced program waits long for."""

import re
from collections.abc import Iterator

from doctord.dataset.calltrace import Target
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.cost import of_busy
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

# More than a disk drive at work takes with the seeks of a full queue before it.
SLOW_S = 0.05
# Fewer are a file's first block, or chance.
LEAST_CALLS = 5
# A terminal waits for a person, these others for something to happen.
FILE = re.compile(r"/(?!dev/(pts/|tty|console|ptmx|kmsg|input/|fuse|net/|watchdog|hpet|rtc)|proc/kmsg|sys/)")
NOT_SEEN = NotMeasured(
    "what the file lies on, and who else uses it",
    "a trace sees the program's side alone",
    "iostat -x, or nfsiostat for a file of a network; fuser -v on the file",
)


@cause()
def slow_file(case: Case) -> Iterator[Claim]:
    """A program waits long for each of its calls on one file or device.

    Looks like: reads, writes or syncs of one path of 50 ms and longer each, which hold much of the traced time.
    Hurts because: the program does nothing else until the call returns.
    Speaks for it: calls on that path, their mean time, and their share of the time that was traced.
    Speaks against it: a file that another process writes and this one waits for, as a log that is followed.
    Remedy: Look what the path is: a disk or a network file system that is slow (iostat -x, nfsiostat), or a
        device that gives little by itself: /dev/random of kernels before 5.6 waits for entropy; /dev/urandom does not.
    Verify: Another trace: milliseconds for each call on that path.
    Source: Linux manual pages, random(4), read(2); B. Gregg, "Systems Performance", 2nd ed., 2020.
    """
    if case.trace is None:
        return
    slow = [target for target in case.trace["targets"] if _is_slow(target)]
    for target in slow[:3]:
        spent = of_busy(case.trace, target["seconds"])
        if spent is None or not spent.worth_saying:
            continue
        name, each_s = shortened(target["target"], 50), target["seconds"] / target["calls"]
        yield Claim(
            phrase("{} takes {:time} for each call, {}", name, each_s, spent.told),
            impact=spent.share,
            time_of=spent.of,
            confidence=0.75,
            for_=[
                Evidence(
                    "trace",
                    f"target = '{name}'",
                    phrase("{:time} for each of {:,} calls", each_s, target["calls"]),
                    phrase("{:time}", SLOW_S),
                    phrase("{:bytes} read", target["read_bytes"]) if target["reads"] else "",
                    "at_least",
                )
            ],
            not_measured=[NOT_SEEN],
        )


def _is_slow(target: Target) -> bool:
    """Whether calls on a file take long; of a file that is locked more than it is read, the lock is waited for."""
    calls, moved = target["calls"], target["reads"] + target["writes"] + target["syncs"]
    is_file = FILE.match(target["target"]) is not None and 2 * moved >= calls
    return is_file and calls >= LEAST_CALLS and target["seconds"] >= SLOW_S * calls
