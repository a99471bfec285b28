"""What a job over many hosts runs on: local processes, or somebody's cluster."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from doctord.errors import UserError

Task = TypeVar("Task")
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a task came to nothing; the others go on."""

    reason: str
    hint: str = ""

    @classmethod
    def of(cls, error: BaseException) -> "Failed":
        """By an error: a refusal with its hint; any other is a fault of this program."""
        if isinstance(error, UserError):
            return cls(str(error), error.hint)
        return cls(f"{type(error).__name__}: {error}", "a fault of Doctor D's: please report it")


class Engine(Protocol):
    """Does one thing for each of many tasks, in any order, wherever there is room."""

    def each(self, do: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[tuple[Task, Done | Failed]]:
        """Each task with what came of it, as it is done.

        Args:
            do: A function of a module, for it may run elsewhere; a UserError of it is a `Failed` of its task.
            tasks: What it is done for; they can be pickled, and so can what comes of them.
        """
        ...
