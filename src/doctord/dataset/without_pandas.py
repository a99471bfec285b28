"""Keeps Arrow from importing pandas, which takes a quarter of a second where it is installed.

Nothing here hands it any. Arrow looks for pandas once, at the first value of Python's that it is given, and remembers
what it found. Whoever needs pandas itself imports it as ever, later.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

import pyarrow as pa


class _Hidden(MetaPathFinder):
    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002 - Python's own signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def hide_pandas() -> None:
    """Let Arrow look for pandas now, and find none, unless it is there already."""
    if "pandas" in sys.modules:
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(hidden)
