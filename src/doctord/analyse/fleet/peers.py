"""A host beside those of its role: who takes far longer for the same work."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from doctord.analyse.vitals import ACTIVE, SCALE_OF_MAD, SELDOM, TRANSACTIONS

# Fewer peers do not tell what is usual.
FEWEST_PEERS: Final = 8
# A server with twice the transactions, or half of them, does not do the same work.
SAME_LOAD: Final = 2.0
# What is not twice as much as usual is no illness, however alike the peers are.
LEAST_TIMES: Final = 2.0
# Where one in ten is like that, it is another kind of host.
ABOVE: Final = 0.98
TIME_OF_A_TRANSACTION: Final = "database time of a transaction"
_LATENCY: Final = " latency"
DEVICE_LATENCY: Final = "latency of the slowest device"
UNITS: Final = {TIME_OF_A_TRANSACTION: "ms", DEVICE_LATENCY: "ms", "CPU used": "%"}


@dataclass(frozen=True, slots=True)
class Member:
    """A host of a fleet.

    Attributes:
        host: Its name.
        role: What it is for: only hosts of one role are peers.
        signs: Its vital signs (`analyse.vitals`) by name.
    """

    host: str
    role: str
    signs: Mapping[str, float]

    @property
    def load(self) -> float | None:
        """Transactions per second; null where they are not counted."""
        return self.signs.get(TRANSACTIONS)

    @property
    def figures(self) -> dict[str, float]:
        """What it is held against its peers by: how long, or how much, the same work takes."""
        found = {name: value for name, value in self.signs.items() if name in UNITS}
        latencies = [value for name, value in self.signs.items() if name.endswith(_LATENCY)]
        if latencies:
            found[DEVICE_LATENCY] = max(latencies)
        if self.load and ACTIVE in self.signs:
            found[TIME_OF_A_TRANSACTION] = 1000 * self.signs[ACTIVE] / self.load
        return found


@dataclass(frozen=True, slots=True)
class Outlier:
    """A host that is unlike its peers in a figure.

    Attributes:
        host: Its name.
        role: Whose it is a peer of.
        figure: By what.
        value: Of the host.
        median: Of its peers.
        above: The share (0 to 1) of its peers that it is above.
        peers: How many there are, of that role and at the same load.
    """

    host: str
    role: str
    figure: str
    value: float
    median: float
    above: float
    peers: int

    @property
    def unit(self) -> str:
        """Of value and median."""
        return UNITS[self.figure]


def outliers(members: Sequence[Member]) -> list[Outlier]:
    """Who is far above its peers, the farthest first; each host once for each figure.

    Peers are the hosts of the same role with half to twice its transactions a second (of those that count none, the
    others that count none), eight at least. Far above is twice their median, and more than four robust standard
    deviations above it (1.4826 times the median absolute deviation; Hampel, "The influence curve and its role in
    robust estimation", 1974), and above 98 % of them.
    """
    by_role = dict[str, list[Member]]()
    for member in members:
        by_role.setdefault(member.role, []).append(member)
    found = [one for peers in by_role.values() for member in peers for one in _of(member, peers)]
    return sorted(found, key=lambda one: (-one.value / one.median if one.median else float("-inf"), one.host))


def _of(member: Member, of_role: Sequence[Member]) -> Iterable[Outlier]:
    peers = [other for other in of_role if other is not member and _is_same_load(member.load, other.load)]
    known = [other.figures for other in peers]
    for figure, value in member.figures.items():
        others = [figures[figure] for figures in known if figure in figures]
        if len(others) < FEWEST_PEERS:
            continue
        middle = median(others)
        deviation = SCALE_OF_MAD * median(abs(other - middle) for other in others)
        if value > max(LEAST_TIMES * middle, middle + SELDOM * deviation):
            above = sum(other < value for other in others) / len(others)
            if above >= ABOVE:
                yield Outlier(member.host, member.role, figure, value, middle, above, len(others))


def _is_same_load(own: float | None, other: float | None) -> bool:
    if own is None or other is None:
        return own is other
    return own / SAME_LOAD <= other <= own * SAME_LOAD
