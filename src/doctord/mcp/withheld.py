"""Strangers' words are withheld where nobody allowed to show them: names of users and programs, texts of statements.

What a tool answers is otherwise the same. A query could read such words out of any table, so there is none then, and
the load is not split by what strangers name.
"""

from collections.abc import Mapping
from typing import Any, Final

from doctord.errors import UserError

WITHHELD: Final = "(withheld)"
HINT: Final = "doctord serve --show-statements allows it"
NAMED_BY_STRANGERS: Final = frozenset({"user", "program", "client", "database", "service", "module"})
NO_TOOLS: Final = frozenset({"query_lake"})


def check(given: Mapping[str, Any]) -> None:
    """Refuse a question whose answer would be names that strangers chose.

    Raises:
        UserError: it is one.
    """
    asked = {given.get("dimension"), *(given.get("where") or ())} & NAMED_BY_STRANGERS
    if asked:
        raise UserError(f"names of each {sorted(map(str, asked))[0]} are withheld here", HINT)


def withheld(answer: Any) -> Any:  # noqa: ANN401 - whatever JSON takes
    """The answer without the texts and names that strangers wrote.

    >>> withheld({"moved": [{"dimension": "user", "name": "bob", "after": 1.0}], "text": "select 1", "title": "x"})
    {'moved': [{'dimension': 'user', 'name': '(withheld)', 'after': 1.0}], 'text': '(withheld)', 'title': 'x'}
    """
    match answer:
        case Mapping():
            kind = answer.get("kind", answer.get("dimension"))
            hidden = {"text", "name"} if kind in NAMED_BY_STRANGERS else {"text"}
            return {
                key: WITHHELD if key in hidden and isinstance(value, str) else withheld(value)
                for key, value in answer.items()
            }
        case list():
            return [withheld(one) for one in answer]
    return answer
