"""What cannot be answered, as `application/problem+json` (RFC 9457): what is wrong, and a hint what to do instead."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse

from doctord.errors import UserError

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):  # noqa: N818 - what RFC 9457 calls it
    """A request that is refused with a status; `hint` says what to do instead."""

    def __init__(self, status: int, detail: str, hint: str = "", headers: Mapping[str, str] | None = None) -> None:
        """Say what is wrong, and what to do instead."""
        super().__init__(detail)
        self.status, self.hint, self.headers = status, hint, dict(headers or {})

    @classmethod
    def of(cls, refusal: UserError) -> "Problem":
        """What a use case refuses: the request was understood, and cannot be answered."""
        return cls(422, str(refusal), refusal.hint)

    def document(self) -> dict[str, Any]:
        """The body of the response."""
        title = HTTPStatus(self.status).phrase
        return {"type": "about:blank", "title": title, "status": self.status, "detail": str(self), "hint": self.hint}

    def response(self) -> JSONResponse:
        """The response."""
        headers = {"Cache-Control": "no-store"} | self.headers
        return JSONResponse(self.document(), self.status, headers, MEDIA_TYPE)
