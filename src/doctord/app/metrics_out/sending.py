"""Moments on their way to a destination: what it does not take now is kept for a while, and told in its order."""

import logging
from collections import deque
from typing import Final

from doctord.app.metrics_out import otlp, remote_write
from doctord.app.metrics_out.samples import Moment
from doctord.app.metrics_out.settings import Destination
from doctord.app.receivers import NO_ANSWER, is_taken, post

log = logging.getLogger(__name__)

MOST_KEPT: Final = 240  # moments: an hour of one every 15 seconds
# What was refused for good is not sent again; too much at once, and a server that is not well, are another time.
_AGAIN: Final = (NO_ANSWER, 408, 429)
_SERVER_IS_NOT_WELL: Final = 500


class Sending:
    """What waits for a destination."""

    def __init__(self, to: Destination) -> None:
        """Nothing waits yet."""
        self.to = to
        self._waiting = deque[Moment](maxlen=MOST_KEPT)

    def add(self, moment: Moment) -> None:
        """One more moment; of too many the oldest goes."""
        if moment.samples:
            self._waiting.append(moment)

    def send(self) -> None:
        """Send what waits, the oldest first, until it is refused."""
        while self._waiting:
            oldest = self._waiting[0]
            status = self._post(oldest)
            if not is_taken(status) and (status in _AGAIN or status >= _SERVER_IS_NOT_WELL):
                return
            if self._waiting[0] is oldest:  # meanwhile one more may have pushed it out
                self._waiting.popleft()

    def _post(self, moment: Moment) -> int:
        if self.to.kind == "otlp":
            headers, body = otlp.HEADERS, otlp.export_request(moment)
        else:
            headers, body = remote_write.HEADERS, remote_write.write_request(moment)
        return post(self.to.name, self.to.address.url, self.to.address.token, body, headers)
