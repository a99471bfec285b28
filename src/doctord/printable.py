"""The one edge at which strangers' words become harmless to a terminal: file names, names of objects, log messages.

A name may hold escape sequences, which clear the screen or type answers, and characters that turn the direction of
writing, which make a line read otherwise than it is. What is not printable shows as U+FFFD, one for one.
"""

import json
import logging
import re
import sys
from typing import Any, Final

from doctord.regex import regex

_LINES: Final = "\n\t"
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
_NOT_ASCII: Final = regex(r"[^ -~\n]")


def printable(text: str) -> str:
    r"""The text without what a terminal would obey; lines and tabs stay.

    >>> printable("disk\x1b[2J \N{RIGHT-TO-LEFT OVERRIDE}cba")
    'disk�[2J �cba'
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in _LINES else _REPLACEMENT for char in text)


def for_output(text: str) -> str:
    """What goes to standard output as it is, into a file or a pipe; on a terminal `printable`."""
    return printable(text) if sys.stdout.isatty() else text


def json_text(document: Any) -> str:  # noqa: ANN401 - whatever JSON takes
    r"""A document as indented JSON in which everything stands readably that is printable, and the rest as \uXXXX.

    >>> json_text("grün \x9b")
    '"grün \\u009b"'
    """
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return _NOT_ASCII.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text)


def note(text: str) -> None:
    """Say something beside the result, on standard error, a hint on a line of its own.

    Strangers' words in it, names of files say, are harmless: no line of theirs looks like one of ours.
    """
    sys.stderr.write(re.sub(r"\n(?!hint: )", "\n  ", f"doctord: {printable(text)}") + "\n")
    sys.stderr.flush()


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """The message, printable."""
        return printable(super().format(record))


def log_to_standard_error(form: str, level: int = logging.WARNING) -> None:
    """Let the program's log go to standard error, printable, in the form of `logging`."""
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter(form))
    logging.basicConfig(handlers=[handler], level=level)
