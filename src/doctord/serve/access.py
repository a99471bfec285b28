"""Who may ask: the headers of a request are held against who is meant to send it, before anything else looks at it.

A page of another origin must neither read answers (it does not get past `Host`, `Origin` and `Sec-Fetch-Site`) nor show
ours in a frame. docs/explanation/security.md tells of whom each check keeps out.
"""

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Collection, Mapping
from http.cookies import CookieError, SimpleCookie
from time import monotonic
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from doctord.serve.limits import WRONG_TOKEN, Limits
from doctord.serve.problems import Problem

COOKIE: Final = "doctord"
SESSION_S: Final = 12 * 3600.0
INVITED_S: Final = 15 * 60.0  # so long the address that was printed lets somebody in, once
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Guests:
    """Who has been let in: by the one-time token of the address that was printed, or by the token of a program."""

    def __init__(self, program_token: str | None = None) -> None:
        """Nobody has; a program may use `program_token` in its `Authorization` header, if there is one."""
        self.invitation = secrets.token_urlsafe(32)
        self._invited_s = monotonic()
        self._program_token = program_token
        self._sessions = dict[str, float]()

    def welcome(self, token: str) -> str | None:
        """The session that a one-time token is good for; null where it is not, or was used up."""
        is_theirs = hmac.compare_digest(token.encode(), self.invitation.encode())
        if not is_theirs or monotonic() - self._invited_s > INVITED_S:
            return None
        self.invitation = secrets.token_urlsafe(32)  # nobody knows this one
        session = secrets.token_urlsafe(32)
        self._sessions[session] = monotonic() + SESSION_S
        return session

    def knows(self, headers: Headers) -> bool:
        """Whether a request comes from somebody who was let in."""
        return self._is_program(headers.get("authorization", "")) or self._has_session(headers.getlist("cookie"))

    def _is_program(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        if self._program_token is None or scheme.lower() != "bearer":
            return False
        return hmac.compare_digest(token.strip().encode(), self._program_token.encode())

    def _has_session(self, cookies: Collection[str]) -> bool:
        for text in cookies:
            try:
                morsel = SimpleCookie(text).get(COOKIE)
            except CookieError:
                continue
            if morsel and self._sessions.get(morsel.value, 0.0) > monotonic():
                return True
        return False


class Access:
    """The outermost layer: refuses whom nobody meant, and puts the headers of security on every answer."""

    def __init__(self, app: ASGIApp, guests: Guests | None, names: Collection[str], *, is_tls: bool = False) -> None:
        """Guard an application.

        Args:
            app: What is guarded.
            guests: Who has been let in; null: whoever reaches this port may ask.
            names: Names of this host that a request may call it by; addresses may be used always.
            is_tls: Whether it is reached by HTTPS alone.
        """
        self._app, self._guests, self._is_tls = app, guests, is_tls
        self._names = {"localhost", *(name.lower() for name in names)}
        self._limits = Limits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it through, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            welcomed = self._checked(scope)
        except Problem as problem:
            await problem.response()(scope, receive, sent)
            return
        await (welcomed or self._app)(scope, receive, sent)

    def _checked(self, scope: Scope) -> Response | None:
        """What to answer at once; null: go on.

        Raises:
            Problem: it is refused.
        """
        headers, client = Headers(scope=scope), str((scope.get("client") or ("",))[0])
        self._limits.take(client)
        host = headers.get("host", "")
        if not self._is_ours(host):
            raise Problem(421, "this host is not known by that name", "use its address, or `serve --known-as NAME`")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            raise Problem(403, "a page of another origin may not ask", "open the page that this server shows")
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            raise Problem(403, "a page of another site may not ask", "open the page that this server shows")
        return self._let_in(scope, headers, client) if self._guests else None

    def _let_in(self, scope: Scope, headers: Headers, client: str) -> Response | None:
        assert self._guests  # noqa: S101 - its caller asked
        token = _token_in(scope)
        if token is not None:
            session = self._guests.welcome(token)
            if session is None:
                self._limits.take(client, WRONG_TOKEN)
            # Without the token in it, the address can be kept and shared.
            found = RedirectResponse(scope["path"] or "/", 303, {"Cache-Control": "no-store"})
            if session:
                found.set_cookie(
                    COOKIE, session, max_age=int(SESSION_S), secure=self._is_tls, httponly=True, samesite="strict"
                )
            return found
        if not self._guests.knows(headers):
            self._limits.take(client, WRONG_TOKEN if "authorization" in headers else 0.0)
            raise Problem(
                401,
                "nobody let you in",
                "open the address that `doctord serve` printed; it is good once. Programs send `Authorization: Bearer`",
                {"WWW-Authenticate": "Bearer"},
            )
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether a `Host` is one that only who means this server would send: an attacker's name is his own."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return name.lower() in self._names
        return True


def _token_in(scope: Scope) -> str | None:
    query: str = scope.get("query_string", b"").decode("latin-1")
    pairs: Mapping[str, str] = dict(part.partition("=")[::2] for part in query.split("&"))
    return pairs.get("token")


def own_names() -> set[str]:
    """What this host calls itself."""
    return {socket.gethostname().lower(), socket.getfqdn().lower()}
