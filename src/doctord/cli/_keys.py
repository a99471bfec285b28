"""Keys pressed on a terminal, one at a time, without waiting for Enter."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

NAMES = {
    b" ": "space",
    b"\x1b[A": "up",
    b"\x1b[B": "down",
    b"\x1b[C": "right",
    b"\x1b[D": "left",
    b"\x1bOA": "up",
    b"\x1bOB": "down",
    b"\x1bOC": "right",
    b"\x1bOD": "left",
    b"\x1b[H": "home",
    b"\x1b[F": "end",
    b"\x1b[1~": "home",
    b"\x1b[4~": "end",
    b"\x03": "q",
    b"\x1b": "q",
}


class Keys:
    """The keyboard of standard input."""

    def __init__(self, descriptor: int) -> None:
        """Read from a terminal that gives each key at once."""
        self._descriptor, self._waiting = descriptor, b""

    def pressed(self, wait_s: float) -> str | None:
        """Name of the next key (`left`, `space`, or the character itself); null when none came in time."""
        if not self._waiting:
            if not select.select([self._descriptor], [], [], max(wait_s, 0.0))[0]:
                return None
            self._waiting = os.read(self._descriptor, 256) or b"q"
        # The longest first: an escape sequence begins with the escape key. What is none is a character.
        key = next((key for key in sorted(NAMES, key=len, reverse=True) if self._waiting.startswith(key)), None)
        pressed, self._waiting = self._waiting[: len(key or b" ")], self._waiting[len(key or b" ") :]
        return NAMES[key] if key else pressed.decode(errors="replace")


@contextmanager
def keyboard() -> Iterator[Keys]:
    """The keys of the terminal, until the end of the block; it is left as it was.

    Standard input, or the process's own terminal when that is a pipe.
    """
    with ExitStack() as stack:
        descriptor = sys.stdin.fileno()
        if not sys.stdin.isatty():
            descriptor = os.open("/dev/tty", os.O_RDONLY)
            stack.callback(os.close, descriptor)
        stack.callback(termios.tcsetattr, descriptor, termios.TCSADRAIN, termios.tcgetattr(descriptor))
        tty.setcbreak(descriptor)
        yield Keys(descriptor)
