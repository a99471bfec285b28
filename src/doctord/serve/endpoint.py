"""What an endpoint is: its path, its parameters, what answers it, and what form the answer has.

The router, the check of parameters, the OpenAPI document and docs/reference/http-api.md are all made of this.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from doctord.serve.parameters import OfLake

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One resource of the API.

    Attributes:
        path: Below /api/v1; `{id}` is the parameter of that name.
        answer: Takes what is asked about, and the parameters, and gives the document; its docstring is the description.
        parameters: The form of the parameters: of a lake alone, or of a time of it (`OfTime`).
        document: A TypedDict that says what form the answer has.
        runs: `thread`: it answers in well under a second; `process`: it may take long, and is ended where that is too
            long.
        fresh_s: So long an answer about a time that goes on is given again.
        longest_h: Of so many hours a time may be: it is answered by reading rows, which memory must hold; null: of any.
        is_tabular: Whether it has an Arrow form too.
    """

    path: str
    answer: Callable[[Any, Any], Document]
    parameters: type[OfLake]
    document: Any
    runs: Literal["thread", "process"] = "thread"
    fresh_s: int = 1
    longest_h: int | None = None
    is_tabular: bool = False

    @property
    def name(self) -> str:
        """Its name in the OpenAPI document."""
        return self.answer.__name__

    @property
    def description(self) -> str:
        """What it gives: a line, and perhaps more."""
        told = inspect.cleandoc(self.answer.__doc__ or "")
        return f"{told}\n\nThe time is of {self.longest_h} hours at most." if self.longest_h else told
