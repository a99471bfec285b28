"""What is found of each host, where files tell of several: a mean over two of them would be nobody's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar


class Judged(Protocol):
    """What says whether all is well; null where that cannot be told."""

    @property
    def healthy(self) -> bool | None:
        """True, false, or null where that cannot be told."""
        ...


Found = TypeVar("Found", bound=Judged)
WORST_FIRST: Final = (False, True, None)


@dataclass(frozen=True, slots=True)
class Hosts(Generic[Found]):
    """What is found of each host by its name (empty: none is told), the worst first; at least of one."""

    each: Sequence[tuple[str, Found]]

    @classmethod
    def of(cls, found: Iterable[tuple[str, Found]]) -> "Hosts[Found]":
        """What is found of hosts, in any order."""
        return cls(sorted(found, key=lambda one: (WORST_FIRST.index(one[1].healthy), one[0])))

    @property
    def healthy(self) -> bool | None:
        """False where one host is not; null where of none it can be told."""
        return self.each[0][1].healthy

    @property
    def unjudged(self) -> list[str]:
        """The hosts of which it cannot be told."""
        return [host for host, one in self.each if one.healthy is None]
