"""The simplest engine of a job over many hosts."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from doctord.app.fleet.engine import Failed
from doctord.errors import UserError

Task = TypeVar("Task")
Done = TypeVar("Done")


class Here:
    """One after the other, in this process; after so many somebody presses Ctrl-C."""

    def __init__(self, until: int | None = None) -> None:
        self.until = until

    def each(self, do: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[tuple[Task, Done | Failed]]:
        for number, task in enumerate(tasks):
            if number == self.until:
                raise KeyboardInterrupt
            try:
                yield task, do(task)
            except UserError as refused:
                yield task, Failed(str(refused), refused.hint)
