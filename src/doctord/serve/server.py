"""The server: the routes, and how a request becomes a question."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from doctord.app.metrics_out.settings import MetricsOut
from doctord.mcp.server import server as mcp_server
from doctord.serve.alerting import Alerting
from doctord.serve.answers import Answers
from doctord.serve.api import ENDPOINTS
from doctord.serve.endpoint import Endpoint
from doctord.serve.fleet_page import PATH as FLEET
from doctord.serve.fleet_page import FleetPage
from doctord.serve.lakes import Asked, Lakes
from doctord.serve.metrics import MEDIA_TYPE as METRICS
from doctord.serve.metrics import Metrics
from doctord.serve.openapi import PREFIX, document
from doctord.serve.parameters import OfTime, query
from doctord.serve.problems import Problem
from doctord.serve.pushing import Pushing
from doctord.serve.replies import HANDLERS, PAGE, page, reply
from doctord.serve.stream import Growth
from doctord.serve.summing import keep_summing
from doctord.serve.verdicts import Verdicts

LONGEST_QUERY: Final = 8000  # bytes
LONGEST_BODY: Final = 256 << 10
MCP: Final = "/mcp"


class Server:
    """What the routes share: the lakes, and what was answered of them."""

    def __init__(
        self,
        lakes: Lakes,
        *,
        shows_words: bool,
        alerting: Alerting | None,
        metrics_out: MetricsOut | None,
        fleet: FleetPage | None,
        is_ending: Callable[[], bool],
    ) -> None:
        """Serve these lakes; `shows_words`: to assistants also the names and texts that strangers wrote."""
        self.lakes = lakes
        # Who may ask is checked before (`access.Access`), for all paths in one way.
        self._mcp = mcp_server(list(lakes.places.values()), shows_words=shows_words).streamable_http_app(
            streamable_http_path=MCP,
            stateless_http=True,
            json_response=True,
            max_request_body_size=LONGEST_BODY,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._answers = Answers()
        self._growth = Growth(lakes, is_ending)
        self._openapi = document(ENDPOINTS)
        self._verdicts, self._alerting = Verdicts(lakes, self._ask), alerting
        self._metrics = Metrics(lakes, self._verdicts)
        self._pushing = Pushing(metrics_out, lakes, self._metrics) if metrics_out else None
        self._fleet = fleet
        self._beside: TaskGroup | None = None
        self._are_verdicts_kept = False

    @asynccontextmanager
    async def running(self, _app: Starlette) -> AsyncIterator[None]:
        """What goes on beside the requests, for as long as there may be any."""
        async with self._mcp.router.lifespan_context(self._mcp), anyio.create_task_group() as beside:
            self._beside = beside
            beside.start_soon(keep_summing, self.lakes)
            beside.start_soon(self._answers.warm_up)
            if self._alerting or self._pushing:
                self._keep_verdicts()
            if self._pushing:
                beside.start_soon(self._pushing.keep)
            if self._fleet:
                beside.start_soon(self._fleet.keep)
            yield
            beside.cancel_scope.cancel()

    def routes(self) -> list[BaseRoute]:
        """All there is."""
        return [
            *(Route(PREFIX + one.path, self._of(one), methods=["GET"]) for one in ENDPOINTS),
            Route(f"{PREFIX}/openapi.json", self._describe, methods=["GET"]),
            Route(f"{PREFIX}/stream", self._stream, methods=["GET"]),
            Route("/metrics", self._scrape, methods=["GET"]),
            *(Route(path, page, methods=["GET"]) for path in PAGE),
            *([Route(FLEET, self._fleet.answer, methods=["GET"])] if self._fleet else []),
            *self._mcp.routes,
        ]

    def _of(self, endpoint: Endpoint) -> Any:  # noqa: ANN401 - what Starlette takes for an endpoint
        async def answered(request: Request) -> Response:
            given = _given(endpoint, request)
            asked, is_past = await anyio.to_thread.run_sync(self._asked, endpoint, given)
            answer = await self._answers.answer(endpoint, asked, given, is_past=is_past)
            return reply(answer, request, endpoint, is_past=is_past)

        answered.__name__ = endpoint.name
        return answered

    def counted(self, app: ASGIApp) -> ASGIApp:
        """The application, with what it answers counted by resource."""

        async def counting(scope: Scope, receive: Receive, send: Send) -> None:
            async def sent(message: Message) -> None:
                if message["type"] == "http.response.start":
                    resource = getattr(scope.get("endpoint"), "__name__", "none")
                    self._metrics.answered(resource.strip("_"), message["status"])
                await send(message)

            await app(scope, receive, sent)

        return counting

    def _asked(self, endpoint: Endpoint, given: Any) -> tuple[Asked | Lakes, bool]:  # noqa: ANN401 - of the endpoint
        """What an endpoint is asked about, and whether it will not change any more."""
        if not isinstance(given, OfTime):
            return self.lakes, False
        asked = self.lakes.asked(given.lake, given.host, given.since, given.until, endpoint.fresh_s)
        if endpoint.longest_h and asked.until - asked.since > timedelta(hours=endpoint.longest_h):
            raise Problem(
                422, f"{endpoint.path} is of {endpoint.longest_h} hours at most", "zoom in: /load tells where"
            )
        return asked, asked.is_past

    async def _ask(self, path: str, given: Mapping[str, str]) -> Mapping[str, Any]:
        """The document of an endpoint.

        Raises:
            Problem: there is none.
        """
        endpoint = next(one for one in ENDPOINTS if one.path == path)
        parameters = endpoint.parameters.model_validate(given)
        asked, is_past = await anyio.to_thread.run_sync(self._asked, endpoint, parameters)
        return (await self._answers.answer(endpoint, asked, parameters, is_past=is_past)).document

    async def _scrape(self, _request: Request) -> Response:
        self._keep_verdicts()
        return Response(await self._metrics.text(), 200, {"Cache-Control": "no-store"}, METRICS)

    def _keep_verdicts(self) -> None:
        if self._beside and not self._are_verdicts_kept:
            self._are_verdicts_kept = True
            self._beside.start_soon(self._verdicts.keep, self._alerting.look if self._alerting else None)

    async def _describe(self, _request: Request) -> Response:
        return JSONResponse(self._openapi)

    async def _stream(self, _request: Request) -> Response:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(await self._growth.listen(), 200, headers, "text/event-stream")


def application(
    lakes: Lakes,
    *,
    shows_words: bool = False,
    alerting: Alerting | None = None,
    metrics_out: MetricsOut | None = None,
    fleet: FleetPage | None = None,
    is_ending: Callable[[], bool],
) -> ASGIApp:
    """The application, to be guarded by `access.Access`; once it `is_ending` no page listens on."""
    server = Server(
        lakes,
        shows_words=shows_words,
        alerting=alerting,
        metrics_out=metrics_out,
        fleet=fleet,
        is_ending=is_ending,
    )
    return server.counted(Starlette(routes=server.routes(), exception_handlers=HANDLERS, lifespan=server.running))


def _given(endpoint: Endpoint, request: Request) -> Any:  # noqa: ANN401 - of the endpoint
    """The parameters of a request.

    Raises:
        Problem: one of them is malformed, or there is none of that name.
    """
    if len(request.url.query) > LONGEST_QUERY:
        raise Problem(414, "the address is too long", "fewer filters")
    pairs = [*request.query_params.multi_items(), *((name, str(value)) for name, value in request.path_params.items())]
    try:
        return endpoint.parameters.model_validate(query(endpoint.parameters, pairs))
    except ValidationError as error:
        told = [f"{'.'.join(map(str, one['loc'])) or 'parameters'}: {one['msg']}" for one in error.errors()[:5]]
        known = ", ".join(field.alias or name for name, field in endpoint.parameters.model_fields.items())
        raise Problem(400, "; ".join(told), f"parameters are {known}") from error
