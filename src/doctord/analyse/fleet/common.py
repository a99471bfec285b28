"""What hosts have in common that are ill in the same way: an array, a network, a release."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import exp, lgamma
from typing import Final, TypeAlias

Labels: TypeAlias = Mapping[str, Mapping[str, str]]
"""Of each host, by its name, the labels: site, role, array and so on."""

FEWEST_ILL: Final = 3
# That chance brings so many of the ill below one label, in so many labels tried.
CHANCE: Final = 0.01
# A label that most of the ill do not have is not what they have in common.
MOST_OF_THEM: Final = 0.8


@dataclass(frozen=True, slots=True)
class Common:
    """A label that hosts which are ill in the same way have in common, and few others have.

    Attributes:
        label: Its name: `array`.
        value: What it says of them: `ams-3`.
        ill: How many of those that have it are ill so.
        hosts: How many have it.
        ill_others: How many are ill so that do not have it.
        others: How many do not have it.
        chance: The probability (0 to 1) that chance does this, in any of the labels tried.
    """

    label: str
    value: str
    ill: int
    hosts: int
    ill_others: int
    others: int
    chance: float


def common_label(ill: Collection[str], labels: Labels) -> Common | None:
    """The label by which hosts that are ill in the same way are told best from all others; null where none does.

    It has to be one that four fifths of them have, and more of them than chance would give: the upper tail of the
    hypergeometric distribution (Fisher, "On the interpretation of chi-squared from contingency tables", 1922), times
    the number of labels tried (Bonferroni, 1936). What fewer than three hosts have in common is none.

    Args:
        ill: The hosts that are ill in that way.
        labels: Of all hosts that were judged, these included.
    """
    if len(ill) < FEWEST_ILL:
        return None
    having = dict[tuple[str, str], list[str]]()
    for host, own in labels.items():
        for pair in own.items():
            having.setdefault(pair, []).append(host)
    # What one host alone has is its name, and what all have tells nobody from the others.
    tried = {pair: hosts for pair, hosts in having.items() if 1 < len(hosts) < len(labels)}
    found = list[Common]()
    for (label, value), hosts in tried.items():
        inside = sum(host in ill for host in hosts)
        chance = min(1.0, at_least(inside, len(ill), len(hosts), len(labels)) * len(tried))
        if inside >= MOST_OF_THEM * len(ill) and inside >= FEWEST_ILL and chance < CHANCE:
            others = len(labels) - len(hosts)
            found.append(Common(label, value, inside, len(hosts), len(ill) - inside, others, chance))
    return min(found, key=lambda one: (one.chance, one.hosts, one.label, one.value), default=None)


def at_least(inside: int, ill: int, having: int, hosts: int) -> float:
    """The probability that of `ill` hosts, drawn from `hosts` by chance, `inside` or more are among `having` of them.

    >>> round(at_least(3, 3, 3, 10), 6)  # 1 / C(10, 3)
    0.008333
    """
    whole = _log_choose(hosts, ill)
    possible = range(max(inside, ill + having - hosts), min(ill, having) + 1)
    return sum(exp(_log_choose(having, n) + _log_choose(hosts - having, ill - n) - whole) for n in possible)


def _log_choose(of: int, chosen: int) -> float:
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)
