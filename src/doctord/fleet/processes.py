"""Local processes as the engine of a job over many hosts: one for each CPU, each host in one of them."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

from doctord.app.fleet.engine import Done, Failed, Task

# Each process has one CPU: libraries that begin a thread for each CPU would only be in each other's way.
_ENVIRONMENT: Final = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
_PARENT_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG
_TO_LEAVE_S: Final = 5
_ENDED: Final = Failed(
    "the process that judged it was ended, perhaps for want of memory", "see dmesg; ask for less time"
)


@dataclass(frozen=True, slots=True)
class Processes:
    """So many processes of this host."""

    workers: int

    def each(self, do: Callable[[Task], Done], tasks: Sequence[Task]) -> Iterator[tuple[Task, Done | Failed]]:
        """See `Engine`. A process that is killed costs its own task: who was beside it is done once more, alone."""
        unknown = list[Task]()
        for task, done in _together(do, tasks, self.workers):
            if done is _ENDED:
                unknown.append(task)
            else:
                yield task, done
        for task in unknown:
            yield from _together(do, [task], 1)


def _together(do: Callable[[Task], Done], tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Done | Failed]]:
    # Forked, a process would inherit the locks of threads that it does not have.
    pool = ProcessPoolExecutor(min(workers, len(tasks)), get_context("spawn"), _begin)
    try:
        whose, rest = dict[Future[Done], Task](), list(tasks)
        with suppress(BrokenProcessPool):  # of a worker that dies while they are handed over
            while rest:
                whose[pool.submit(do, rest[0])] = rest[0]
                del rest[0]
        yield from ((task, _ENDED) for task in rest)
        for future in as_completed(whose):
            done = _done(future)
            yield whose.pop(future), done
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    """A worker's first step, before it loads what its tasks need. Ctrl-C is for who began it, and ends it in order.

    Where that one is killed, nobody would tell it that no task will come any more: the kernel does (prctl(2)).
    """
    signal.signal(signal.SIGTERM, _end)
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    os.environ |= _ENVIRONMENT
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end(*_: object) -> None:
    """Leave the task, so that what it fetched is removed; the pool takes that for its result, and would wait on."""
    signal.alarm(_TO_LEAVE_S)
    sys.exit(1)


def _done(future: Future[Done]) -> Done | Failed:
    error = future.exception()
    if error is None:
        return future.result()
    return _ENDED if isinstance(error, BrokenProcessPool) else Failed.of(error)
