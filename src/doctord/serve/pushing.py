"""Sends what `/metrics` tells of the lakes to receivers that do not ask: remote write, and OTLP."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import anyio
import anyio.to_thread

from doctord.app.metrics_out.host_figures import host_figures
from doctord.app.metrics_out.samples import Moment, Sample
from doctord.app.metrics_out.sending import Sending
from doctord.app.metrics_out.settings import MetricsOut
from doctord.errors import UserError
from doctord.serve.lakes import ABANDONED, Lakes
from doctord.serve.metrics import Metrics
from doctord.serve.verdicts import logged

log = logging.getLogger(__name__)

HOSTS_OWN: Final = "otlp"  # who speaks it has no node_exporter, in all likelihood


class Pushing:
    """The metrics of some lakes on their way out."""

    def __init__(self, settings: MetricsOut, lakes: Lakes, metrics: Metrics) -> None:
        """Nothing was sent yet."""
        self._every_s, self._lakes, self._metrics = settings.every_s, lakes, metrics
        self._sendings = [Sending(to) for to in settings.to]
        self._busy = set[Sending]()

    async def keep(self) -> None:
        """Send again and again, each destination for itself: one that does not answer delays no other."""
        async with anyio.create_task_group() as beside:
            while True:
                with logged("metrics were not sent"):
                    moments = await anyio.to_thread.run_sync(self._now)
                    for sending in self._sendings:
                        sending.add(moments[sending.to.kind == HOSTS_OWN])
                        beside.start_soon(self._send, sending)
                await anyio.sleep(self._every_s)

    async def _send(self, sending: Sending) -> None:
        """Send what waits; who is still at it sends this, too."""
        if sending not in self._busy:
            self._busy.add(sending)
            with logged(f"metrics were not sent to {sending.to.name}"):
                await anyio.to_thread.run_sync(sending.send)
            self._busy.discard(sending)

    def _now(self) -> tuple[Moment, Moment]:
        """What is true now: without figures of the hosts, and with them."""
        at, own = datetime.now(UTC), tuple(self._metrics.samples())
        return Moment(at, own), Moment(at, (*own, *self._hosts(at)) if self._wants_hosts else own)

    @property
    def _wants_hosts(self) -> bool:
        return any(sending.to.kind == HOSTS_OWN for sending in self._sendings)

    def _hosts(self, at: datetime) -> Iterator[Sample]:
        """Of lakes that somebody fills."""
        for name, place in self._lakes.places.items():
            newest = self._lakes.newest(name)
            if newest is None or newest < at - ABANDONED:
                continue
            try:
                yield from host_figures(place, newest)
            except UserError as refusal:
                log.debug("%s: %s", name, refusal)
