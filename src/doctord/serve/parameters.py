"""Parameters that several requests share: one word for one thing, with its bounds."""

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from doctord.analyse.over_time.load_steps import DIMENSIONS

Dimension = Literal[
    "wait_class",
    "event",
    "wait_kind",
    "statement",
    "user",
    "program",
    "client",
    "database",
    "server",
    "host",
    "session",
    "blocker",
]
assert set(get_args(Dimension)) == set(DIMENSIONS)  # noqa: S101 - a dimension more in analyse/ is to be told here

Text = Annotated[str, Field(min_length=1, max_length=500)]
Buckets = Annotated[int, Field(ge=1, le=1200, description="Stretches of time at most, all of one length.")]
MOST_FILTERS: Final = 12


def _filter(text: str) -> str:
    name, parted, _ = text.partition(":")
    if not parted or name not in DIMENSIONS:
        raise ValueError(f"it is not DIMENSION:VALUE, with a dimension of {', '.join(DIMENSIONS)}")
    return text


Where = Annotated[
    list[Annotated[str, Field(max_length=1000), AfterValidator(_filter)]],
    Field(
        max_length=MOST_FILTERS,
        description="`DIMENSION:VALUE`, repeated: only sessions with this value; two of one dimension: either of them. "
        "Without a value: sessions that tell none.",
    ),
]


class OfLake(BaseModel):
    """Which lake a request is about."""

    model_config = ConfigDict(extra="forbid")

    lake: Text | None = Field(
        None, description="Name of the lake, as /servers gives it; needed where there are several."
    )


class OfTime(OfLake):
    """Which time of it."""

    host: Text | None = Field(None, description="The host, where the lake holds several.")
    since: Text | None = Field(
        None,
        alias="from",
        description="Start: 2026-11-20T10:00Z, 02:19 (UTC) or -2h; an hour before the end if not said.",
    )
    until: Text | None = Field(
        None,
        alias="to",
        description="End, likewise; now if not said, or where the lake ends if nobody fills it any more.",
    )


def filters(where: list[str]) -> dict[str, list[str | None]]:
    """The values that count of each dimension; null: sessions that tell none.

    >>> filters(["event:a:b", "event:c", "blocker:"])
    {'event': ['a:b', 'c'], 'blocker': [None]}
    """
    found = dict[str, list[str | None]]()
    for text in where:
        name, _, value = text.partition(":")
        found.setdefault(name, []).append(value or None)
    return found


def query(model: type[BaseModel], pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """A query string's pairs as the model takes them: a list where the model has one, else the last of each name."""
    lists = {field.alias or name for name, field in model.model_fields.items() if _is_list(field.annotation)}
    found = dict[str, Any]()
    for name, value in pairs:
        if name in lists:
            found.setdefault(name, []).append(value)
        else:
            found[name] = value
    return found


def _is_list(annotation: Any) -> bool:  # noqa: ANN401 - whatever a field is annotated with
    return getattr(annotation, "__origin__", None) is list
