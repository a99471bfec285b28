"""What goes back: an answer in the form that is accepted, a file of the page, or why there is none."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

import pyarrow as pa
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from doctord.errors import UserError
from doctord.report.over_time.buckets import columns
from doctord.serve.answers import Answer, etag_of
from doctord.serve.endpoint import Endpoint
from doctord.serve.openapi import ARROW, PREFIX
from doctord.serve.problems import Problem

PAGE: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/app.js": ("app.js", "text/javascript; charset=utf-8"),
    "/app.css": ("app.css", "text/css; charset=utf-8"),
}


def reply(answer: Answer, request: Request, endpoint: Endpoint, *, is_past: bool) -> Response:
    """An answer in the form that is accepted, or that it has not changed since."""
    is_arrow = endpoint.is_tabular and ARROW in request.headers.get("accept", "")
    headers = {"Cache-Control": "private, no-cache" if is_past else "no-store", "Vary": "Accept"}
    if is_past:
        headers["ETag"] = etag = f'{answer.etag[:-1]}{"-arrow" if is_arrow else ""}"'
        if etag in [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]:
            return Response(None, 304, headers)
    if is_arrow:
        return Response(_arrow(answer.document), 200, headers, ARROW)
    return Response(answer.body, 200, headers, "application/json")


def _arrow(told: Mapping[str, Any]) -> bytes:
    """The buckets of a document as a stream of Arrow; what is no column stands in the metadata of its schema."""
    numbers, about = columns(told)
    table = pa.table(numbers, metadata={"doctord": json.dumps(about)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


async def page(request: Request) -> Response:
    """A file of the page, as it lies in the package."""
    name, kind = PAGE[request.url.path]
    file = files("doctord.serve").joinpath("page", name)
    if not file.is_file():
        raise Problem(404, f"there is no {name}", f"the API is described at {PREFIX}/openapi.json")
    content = file.read_bytes()
    headers = {"Cache-Control": "no-cache", "ETag": etag_of(content)}
    if headers["ETag"] == request.headers.get("if-none-match"):
        return Response(None, 304, headers)
    return Response(content, 200, headers, kind)


async def _refused(_request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)  # noqa: S101 - what it is registered for
    return problem.response()


async def _user_refused(_request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, UserError)  # noqa: S101 - likewise
    return Problem.of(refusal).response()


async def _failed(_request: Request, _error: Exception) -> Response:
    return Problem(500, "an error of ours; the log of the server has it", "please report it").response()


async def _no_such(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - likewise
    hint = f"the API is described at {PREFIX}/openapi.json"
    return Problem(
        error.status_code, f"{request.method} {request.url.path}: {error.detail}", hint, error.headers
    ).response()


HANDLERS: Final[Mapping[Any, Any]] = {
    Problem: _refused,
    UserError: _user_refused,
    HTTPException: _no_such,
    Exception: _failed,
}
