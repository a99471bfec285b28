"""Values of settings that may hold a secret, and are not kept: the rule of all that read PostgreSQL's settings."""

import re
from typing import Final

HIDDEN: Final = "(set, not shown)"
_NAMES: Final = ("conninfo", "_command", "passphrase", "secret", "token")
_NO_TEXT: Final = re.compile(r"[-+]?[\d.]+\s*[A-Za-z]{0,3}|on|off|true|false|yes|no", re.IGNORECASE)


def may_be_secret(name: str, *, is_text: bool) -> bool:
    """Whether a setting of PostgreSQL may hold a secret.

    That are commands, connection strings, and the free text of settings that extensions and applications define.
    """
    return any(part in name for part in _NAMES) or ("." in name and is_text)


def shown(name: str, value: str) -> str:
    """The value as it is kept, where nobody says of what type it is.

    >>> shown("work_mem", "64MB"), shown("app.key", "b"), shown("app.limit", "42")
    ('64MB', '(set, not shown)', '42')
    """
    is_text = _NO_TEXT.fullmatch(value) is None
    return HIDDEN if value and may_be_secret(name, is_text=is_text) else value
