"""The OpenAPI document, made of the endpoints themselves."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

from pydantic import TypeAdapter

from doctord.serve.endpoint import Endpoint
from doctord.serve.problems import MEDIA_TYPE as PROBLEM

PREFIX: Final = "/api/v1"
ARROW: Final = "application/vnd.apache.arrow.stream"
_REFUSALS: Final = {
    "400": "A parameter is malformed.",
    "401": "Nobody let you in.",
    "403": "A page of another origin asks.",
    "414": "The address is too long.",
    "421": "The host is not known by that name.",
    "422": "It cannot be answered: nothing was recorded then, or the lake cannot be read.",
    "429": "Too many requests.",
    "503": "It took too long.",
}


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The document (OpenAPI 3.1) of some endpoints."""
    schemas = dict[str, Any]()
    paths = {PREFIX + one.path: {"get": _operation(one, schemas)} for one in endpoints}
    problem = {"type": "object", "required": ["title", "status", "detail", "hint"], "properties": {
        "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
        "detail": {"type": "string"}, "hint": {"type": "string"}}}  # fmt: skip
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Doctor D",
            "version": version("doctord"),
            "description": "What ails database servers, from what was recorded. It reads lakes and changes nothing.",
        },
        "paths": paths,
        "components": {"schemas": schemas | {"Problem": problem}},
    }


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    summary, _, more = endpoint.description.partition("\n\n")
    schema = TypeAdapter(endpoint.document).json_schema(ref_template="#/components/schemas/{model}")
    schemas |= schema.pop("$defs", {})
    schemas[endpoint.document.__name__] = schema
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema['title']}"}}}
    if endpoint.is_tabular:
        content[ARROW] = {"schema": {"type": "string", "format": "binary"}}
    refusals = {
        status: {"description": text, "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
        for status, text in _REFUSALS.items()
    }
    return {
        "operationId": endpoint.name,
        "summary": " ".join(summary.split()),
        "description": " ".join(more.split()),
        "parameters": list(parameters(endpoint)),
        "responses": {"200": {"description": " ".join(summary.split()), "content": content}, **refusals},
    }


def parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    """The parameters of an endpoint, as OpenAPI has them."""
    schema = endpoint.parameters.model_json_schema()
    assert "$defs" not in schema, endpoint.path  # noqa: S101 - parameters are plain values
    needed = schema.get("required", [])
    return [_parameter(name, one, endpoint, needed) for name, one in schema["properties"].items()]


def _parameter(name: str, schema: dict[str, Any], endpoint: Endpoint, needed: Sequence[str]) -> dict[str, Any]:
    is_in_path = f"{{{name}}}" in endpoint.path
    kind = {key: value for key, value in schema.items() if key not in {"title", "description"}}
    if (choices := kind.pop("anyOf", None)) is not None:  # null is said by leaving it out
        kind = next(choice for choice in choices if choice.get("type") != "null")
    return {
        "name": name,
        "in": "path" if is_in_path else "query",
        "required": is_in_path or name in needed,
        "description": schema.get("description", ""),
        "schema": kind,
    }
