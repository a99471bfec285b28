"""Passwords: from the environment, or typed in. Never from a command line, which every user of the host can read."""

import getpass
import os
import sys
from urllib.parse import unquote

from doctord.errors import UserError


def password(variable: str, of_whom: str, *, ask: bool = False) -> str | None:
    """The password in an environment variable; else, if `ask` and there is a terminal, the one typed in; else null."""
    if (known := os.environ.get(variable)) is not None:
        return known
    if ask and sys.stdin.isatty():
        return getpass.getpass(f"Password of {of_whom}: ")
    return None


def user_and_place(address: str, scheme: str, variable: str) -> tuple[str | None, str]:
    """User (null when none is named) and the rest of an address SCHEME://USER@REST.

    Raises:
        UserError: It is of another form, or holds a password. The text of it is not repeated.
    """
    if not address.startswith(f"{scheme}://"):
        raise UserError(f"an address does not begin with {scheme}://", f"write it as {scheme}://USER@HOST:PORT/...")
    before, at, place = address.removeprefix(f"{scheme}://").rpartition("@")
    if ":" in before or "/" in before:
        raise UserError(
            "an address holds a password, or a user with a character that must be written as %XX",
            f"write {scheme}://USER@HOST:PORT/... and put the password into the environment variable {variable}",
        )
    return (unquote(before) or None) if at else None, place
