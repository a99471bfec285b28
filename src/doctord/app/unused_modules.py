"""Modules that psycopg imports and the recorder never uses: kept out of a process that runs for months.

psycopg derives classes of its asynchronous half from `asyncio`, looks for libpq with `ctypes` where it is not compiled
in, asks `importlib.metadata` for its own version, and loads `ssl` where there is one: a second OpenSSL, for libpq has
its own. With what these load in turn they are 7 MiB of 42. Who talks TLS to a server takes the place of `ssl` back
(`served_certificate`).
"""

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Final

UNUSED: Final = ("asyncio", "ctypes", "ctypes.util", "importlib.metadata")


class _Unused:
    """Any name of such a module: it can be derived from, subscripted and called, as when a module is imported."""

    def __init__(self, *_: object) -> None:
        """Whatever it is called with."""

    def __class_getitem__(cls, _: object) -> type["_Unused"]:
        return cls


class _Cancelled(BaseException):
    """What psycopg names in its `except` clauses; nobody raises it."""


def keep_out() -> None:
    """Put an empty module in the place of each, before psycopg is imported; not where its compiled half is missing."""
    if find_spec("psycopg_binary") or find_spec("psycopg_c"):
        sys.modules["ssl"] = None  # type: ignore[assignment] # an ImportError, which psycopg expects
        for name in UNUSED:
            module = ModuleType(name)
            module.__getattr__ = _named  # type: ignore[method-assign] # PEP 562
            sys.modules[name] = module


def _named(name: str) -> type:
    return _Cancelled if name == "CancelledError" else _Unused
