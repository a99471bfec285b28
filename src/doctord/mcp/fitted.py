"""An answer that fits: lists are cut, the least telling first, and what was left out is said."""

import json
from collections.abc import Mapping
from typing import Any, Final

MOST_BYTES: Final = 8000
LONGEST: Final = 300


def size(document: Any) -> int:  # noqa: ANN401 - whatever JSON takes
    """Bytes of a document as it is sent.

    >>> size({"a": 1})
    7
    """
    return len(text(document).encode())


def text(document: Any) -> str:  # noqa: ANN401 - whatever JSON takes
    """A document as JSON without spaces; characters that steer a terminal are escaped."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False)


def fitted(document: Mapping[str, Any], least: Mapping[str, int], most: int = MOST_BYTES) -> dict[str, Any]:
    """The document in so many bytes: with `left_out`, how many items of which list are not in it.

    Args:
        document: What is to be sent; texts in it are cut at 300 characters.
        least: Its lists in the order in which they are cut, each with how many items stay if at all possible.
        most: Bytes of its JSON.

    >>> fitted({"a": [1] * 50, "b": [2] * 9}, {"a": 2, "b": 1}, 80)
    {'a': [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 'b': [2, 2, 2, 2, 2, 2, 2, 2, 2], 'left_out': {'a': 36}}
    """
    cut = {name: short(value) for name, value in document.items()}
    left_out = dict(cut.pop("left_out", {}))
    for keep in (least, dict.fromkeys(least, 0)):
        for name, at_least in keep.items():
            while len(cut[name] or ()) > at_least and size({**cut, "left_out": left_out}) > most:
                many = max((len(cut[name]) - at_least) // 8, 1)
                left_out[name] = left_out.get(name, 0) + many
                cut[name] = cut[name][:-many]
    return {**cut, "left_out": left_out}


def short(value: Any, longest: int = LONGEST) -> Any:  # noqa: ANN401 - whatever JSON takes
    """The same with each text cut at a length.

    >>> short({"a": ["12345", 6]}, 4)
    {'a': ['123…', 6]}
    """
    match value:
        case str():
            return value if len(value) <= longest else f"{value[: longest - 1]}…"
        case Mapping():
            return {str(key): short(one, longest) for key, one in value.items()}
        case list() | tuple():
            return [short(one, longest) for one in value]
    return value
