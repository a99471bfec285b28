"""The kinds of databases that can be looked at: each folder here that declares one."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from doctord import collect
from doctord.collect.core.database import Database
from doctord.errors import UserError
from doctord.regex import regex

_SCHEME: Final = regex(r"([A-Za-z][A-Za-z0-9+.-]*)://")


@cache
def databases() -> tuple[Database, ...]:
    """The `DATABASE` of every folder that has one, in order of the folders' names."""
    folders = [found.name for found in iter_modules(collect.__path__) if found.ispkg]
    modules = [import_module(f"{collect.__name__}.{folder}") for folder in sorted(folders)]
    return tuple(module.DATABASE for module in modules if hasattr(module, "DATABASE"))


def database_of(address: str) -> Database:
    """The kind of database that an address is of, by what stands before `://`.

    Raises:
        UserError: There is none. The address is not repeated: it may hold a password.
    """
    scheme = _SCHEME.match(address)
    for database in databases():
        if scheme[1] in database.schemes if scheme else database.has_plain_addresses:
            return database
    known = ", ".join(f"{scheme}://" for database in databases() for scheme in database.schemes)
    raise UserError(f"an address begins with none of {known}", "see what --help says of --dsn")
