"""Queue depth: requests given to a LUN at a time, from Little's law or a measured load curve, within its target's."""

from itertools import pairwise
from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Curve, Input, Question, Setting, Sizing, given_lines, known
from doctord.analyse.sizing.working import Given, Number, Quantity, Step, root, round_down, round_up, smaller
from doctord.errors import UserError

LITTLE: Final = 'J. D. C. Little, "A proof for the queuing formula L = lambda W", 1961'
POWER: Final = 'L. Kleinrock, "Power and deterministic rules of thumb for probabilistic problems", 1979'
M08: Final = "K. Manoharan's notes on queue depth, 2008"
SWINGS: Final = 'Square-root rule: S. Halfin and W. Whitt, "Heavy-traffic limits for queues with many servers", 1981'

INPUTS: Final = (
    Input("iops", "requests of a LUN", "per_s", "Requests to the busiest LUN: 1500/s.", needed=False),
    Input(
        "response",
        "response time",
        "s",
        "Time of a request at that load, in host and device together: 8ms.",
        needed=False,
    ),
    Input(
        "curve",
        "response by load",
        "per_s s",
        "Response at loads, measured in steps: 500:2ms,1000:2.4ms,1500:4ms,1550:9ms.",
        needed=False,
    ),
    Input("luns", "LUNs of the target", "count", "LUNs behind one port of the array."),
    Input("hosts", "hosts", "count", "Hosts that share the port.", assumed=1, because="no other host was named"),
    Input(
        "lun-limit",
        "most of a LUN",
        "count",
        "Requests that a LUN takes at a time, as its vendor says.",
        assumed=30,
        because="K. Manoharan's working value, 2008; the vendor of the array knows",
    ),
    Input(
        "target-limit",
        "most of the target",
        "count",
        "Requests that the port takes at a time, as its vendor says.",
        assumed=256,
        because="K. Manoharan's working value, 2008; the vendor of the array knows",
    ),
    Input("depth", "queue depth now", "count", "Queue depth of a LUN now (queue_depth in /sys).", needed=False),
)


def queue_depth(
    *,
    luns: Quantity,
    hosts: Quantity,
    lun_limit: Quantity,
    target_limit: Quantity,
    iops: Quantity | None = None,
    response: Quantity | None = None,
    curve: Curve | None = None,
    depth: Quantity | None = None,
) -> Sizing:
    """Outstanding = requests x response (Little); the most allowed = target's most / (LUNs x hosts), or the LUN's."""
    loads = _loads(curve) if curve else []
    knee = max(loads, key=lambda load: load[1].value)[0] if loads else None
    wanted = knee or _little(iops, response)
    swings = round_up(wanted + 2 * root(wanted)).step("depth for its swings", "count", SWINGS)
    part = round_down(target_limit / (luns * hosts)).step("target's part for a LUN", "count", M08)
    allowed = smaller(lun_limit, part).step("queue depth, at most", "count", M08)
    full = round_down(target_limit / (lun_limit * hosts)).step("LUNs that may be full", "count", M08)
    # Below what the array takes a shorter queue only moves the wait into the host, unless the curve has bent by then.
    chosen = max(1.0, min(swings.value, allowed.value) if _bent(loads) else allowed.value)
    return Sizing(
        f"A queue depth of {chosen:.0f} for each LUN on each host: {amount(wanted.value, 'count')} requests are "
        f"outstanding {'where the curve bends' if knee else 'on average'}.",
        known(*(step for load in loads for step in load), None if knee else wanted, swings, part, allowed, full),
        (
            Setting(
                "queue_depth", f"{chosen:.0f}", "Linux: /sys/block/DEVICE/device/queue_depth; Solaris: ssd_max_throttle"
            ),
        ),
        _cautions(swings, allowed, part, loads),
        depth.value <= allowed.value and depth.value >= min(swings.value, allowed.value) if depth else None,
    )


def _little(iops: Quantity | None, response: Quantity | None) -> Step:
    if iops is None or response is None:
        raise UserError(
            "size queue-depth: the load is not known",
            "give --iops and --response, or --curve; or files or a lake that hold figures of disks (iostat, sar -d)",
        )
    return (iops * response).step("requests outstanding", "count", LITTLE)


def _loads(curve: Curve) -> list[tuple[Step, Step]]:
    """For each load of a curve the requests outstanding, and its power: throughput / response, highest at the bend."""
    found = []
    for per_s, response_s in curve.points:
        load = Number(per_s, "per_s")
        response = Given(f"response at {amount(per_s, 'per_s')}", response_s, "s", curve.origin)
        outstanding = (load * response).step(f"outstanding at {amount(per_s, 'per_s')}", "count", LITTLE)
        found.append((outstanding, (load / response).step(f"power at {amount(per_s, 'per_s')}", "count", POWER)))
    return found


def _cautions(swings: Step, allowed: Step, part: Step, loads: list[tuple[Step, Step]]) -> tuple[str, ...]:
    return given_lines(
        swings.value > allowed.value
        and "More are outstanding than the array may be given: the rest waits in the host. More LUNs, ports or a "
        "faster array; a higher depth brings resets (queue full).",
        part.value < 1 and "The port has more LUNs and hosts than it takes requests: no depth is safe.",
        bool(loads)
        and not _bent(loads)
        and "The curve has not bent at its highest load: the device takes more than was tried.",
        "Hosts that are not told of here share the port too: each counts.",
    )


def _bent(loads: list[tuple[Step, Step]]) -> bool:
    """Whether power falls somewhere along the curve."""
    return any(one[1].value > other[1].value for one, other in pairwise(loads))


QUESTION: Final = Question(
    "queue-depth", "How many requests may a LUN be given at a time, and its target over all hosts?", INPUTS, queue_depth
)
