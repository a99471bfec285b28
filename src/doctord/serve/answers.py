"""Answers, each worked out once however many ask for it at a time, and kept where it will not change.

A verdict takes a CPU for a second or more: it has a process of its own, which is ended where it takes too long.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

import anyio
import anyio.to_process
import anyio.to_thread

from doctord.errors import UserError
from doctord.serve.endpoint import Document, Endpoint
from doctord.serve.problems import Problem

LONGEST_S: Final = 60.0
AT_ONCE: Final = {"process": 2, "thread": 4}
KEPT_BYTES: Final = 32 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """A document, the bytes of it, and a mark of these."""

    document: Document
    body: bytes
    etag: str

    @classmethod
    def of(cls, document: Document) -> "Answer":
        """The answer with its bytes."""
        body = json.dumps(document, separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode()
        return cls(document, body, etag_of(body))


def etag_of(content: bytes) -> str:
    """A mark of some content."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


class Answers:
    """What was answered, the oldest forgotten first; and who is at it now."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self._kept = OrderedDict[tuple[Any, ...], tuple[float, Answer]]()
        self._bytes = 0
        self._turns = dict[tuple[Any, ...], anyio.Lock]()
        self._limits = dict[str, anyio.CapacityLimiter]()

    async def answer(self, endpoint: Endpoint, asked: Any, given: Any, *, is_past: bool) -> Answer:  # noqa: ANN401 - of the endpoint
        """The answer; of a time that goes on one that is a few seconds old at most.

        Raises:
            Problem: it takes too long, or the use case refuses.
        """
        key = (endpoint.path, repr(asked), given.model_dump_json(exclude={"since", "until"}))
        async with self._turns.setdefault(key, anyio.Lock()):
            try:
                if known := self._known(key):
                    return known
                answer = Answer.of(await self._work(endpoint, asked, given))
            finally:
                if not self._turns[key].statistics().tasks_waiting:
                    del self._turns[key]
            self._keep(key, answer, float("inf") if is_past else monotonic() + endpoint.fresh_s)
            return answer

    async def warm_up(self) -> None:
        """Have a process load what verdicts need before anybody asks for one: that takes longer than many a verdict."""
        with suppress(anyio.BrokenWorkerProcess, KeyboardInterrupt):  # then the first verdict takes longer
            await anyio.to_process.run_sync(_load, cancellable=True)

    def _known(self, key: tuple[Any, ...]) -> Answer | None:
        until, answer = self._kept.get(key, (0.0, None))
        if answer and until > monotonic():
            self._kept.move_to_end(key)
            return answer
        return None

    def _keep(self, key: tuple[Any, ...], answer: Answer, until: float) -> None:
        for old in [key] if key in self._kept else []:
            self._bytes -= len(self._kept.pop(old)[1].body)
        self._kept[key] = (until, answer)
        self._bytes += len(answer.body)
        while self._bytes > KEPT_BYTES:
            _, (_, oldest) = self._kept.popitem(last=False)
            self._bytes -= len(oldest.body)

    async def _work(self, endpoint: Endpoint, asked: Any, given: Any) -> Document:  # noqa: ANN401 - as above
        limiter = self._limits.setdefault(endpoint.runs, anyio.CapacityLimiter(AT_ONCE[endpoint.runs]))
        run: Callable[..., Awaitable[Any]] = anyio.to_process.run_sync if endpoint.runs == "process" else _in_thread
        try:
            with anyio.move_on_after(LONGEST_S) as scope:
                found = await run(answered, endpoint.answer, asked, given, cancellable=True, limiter=limiter)
        except (anyio.BrokenWorkerProcess, KeyboardInterrupt) as error:  # Ctrl-C reaches the process as well
            raise Problem(
                503, "the process that worked at it was ended", "it may lack memory: a shorter time"
            ) from error
        if scope.cancelled_caught:
            raise Problem(503, f"it took longer than {LONGEST_S:.0f} s", "ask for a shorter time")
        if isinstance(found, tuple):
            raise Problem(422, *found)
        document: Document = found
        return document


async def _in_thread(
    work: Callable[..., Any],
    *arguments: Any,  # noqa: ANN401 - whatever the work takes
    cancellable: bool,
    limiter: anyio.CapacityLimiter,
) -> Any:  # noqa: ANN401 - whatever the work gives
    return await anyio.to_thread.run_sync(work, *arguments, abandon_on_cancel=cancellable, limiter=limiter)


def _load() -> None:
    from doctord.serve import api  # noqa: F401, PLC0415 - it is what is loaded


def answered(answer: Callable[[Any, Any], Document], asked: Any, given: Any) -> Document | tuple[str, str]:  # noqa: ANN401 - as above
    """The document, or why there is none, with a hint: a refusal does not come whole out of a process."""
    try:
        return answer(asked, given)
    except UserError as refusal:
        return str(refusal), refusal.hint
