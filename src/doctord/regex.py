"""Regular expressions that are compiled when one is first asked for: a file needs few of the hundreds there are."""

import re
from functools import cached_property
from typing import Any, cast, overload


@overload
def regex(text: str, flags: int = 0) -> re.Pattern[str]: ...
@overload
def regex(text: bytes, flags: int = 0) -> re.Pattern[bytes]: ...
def regex(text: str | bytes, flags: int = 0) -> re.Pattern[Any]:
    """As `re.compile`, but a wrong expression fails when it is first used, and the functions of `re` do not take it.

    >>> regex("[0-9]+").findall("10 of 16")
    ['10', '16']
    """
    return cast("re.Pattern[Any]", _Later(text, flags))


class _Later:
    """Takes what it is asked for from the compiled expression, and keeps it."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text, self._flags = text, flags

    @cached_property
    def _compiled(self) -> re.Pattern[Any]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> object:
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found

    def __reduce__(self) -> tuple[object, ...]:
        return regex, (self._text, self._flags)  # a copy, also in another process, compiles its own
