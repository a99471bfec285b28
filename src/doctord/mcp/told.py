"""What a use case tells beside its result, kept as notes of the answer."""

from doctord.app.watcher import Watcher
from doctord.printable import printable


class Notes(Watcher):
    """A watcher that keeps what it is told; `lines` has it, each line once."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self.lines = list[str]()

    def note(self, text: str) -> None:
        """See `Watcher`."""
        if (line := printable(" ".join(text.split()))) not in self.lines:
            self.lines.append(line)
