"""Parameters that several tools share: one word for one thing."""

from typing import Annotated

from pydantic import Field

Lake = Annotated[
    str | None, Field(description="Name of the lake, as `servers` gives it; needed where there are several.")
]
Host = Annotated[str | None, Field(description="The host, where the lake holds several.")]
Since = Annotated[
    str | None,
    Field(
        description="Start of the window: 2026-11-20T10:00Z, 02:19 (UTC) or -2h; one hour before its end if not said."
    ),
]
Until = Annotated[str | None, Field(description="End of the window, likewise; now if not said.")]
Period = Annotated[str, Field(description="FROM..TO: 2026-11-20T10:00Z..2026-11-20T11:00Z.")]
