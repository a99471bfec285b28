"""The check-up beside a step of load: what it says of the host, and of a server, while the load lasts."""

import threading
from types import TracebackType
from typing import Final, Self

from doctord.app.diagnose import Examination, diagnose
from doctord.app.source import Source
from doctord.diagnose.finding import Diagnosis

SETTLES_S: Final = 1  # of a step that the look leaves out at each end


class Look:
    """A context that looks at a source while it lasts, from SETTLES_S after its beginning."""

    def __init__(self, source: Source, servers: int = 0) -> None:
        """Look at that source, with so many database servers."""
        self.examination: Examination | None = None
        self._source, self._servers = source, servers
        self._timer = threading.Timer(SETTLES_S, self._look)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        """Begin."""
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End with the look, or without it where the step ended badly."""
        self._timer.cancel()
        if kind is None:
            self._timer.join()

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What it says; null where the step was too short to be looked at."""
        return None if self.examination is None else self.examination.diagnosis

    def _look(self) -> None:
        self.examination = diagnose(self._source, servers=self._servers)
