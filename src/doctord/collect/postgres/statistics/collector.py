"""The collector of everything that the server counts itself: each part reads one kind of thing at its own cadence."""

import time
from collections.abc import Iterator
from typing import Protocol

from doctord._native import Batch
from doctord.collect.core.cost import Cost
from doctord.collect.core.link import Away
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.listening import Listening
from doctord.collect.postgres.notify_queue import NotifyQueue
from doctord.collect.postgres.server_log import ServerLog
from doctord.collect.postgres.statistics.access.configuration_files import ConfigurationFiles
from doctord.collect.postgres.statistics.access.login_limits import LoginLimits
from doctord.collect.postgres.statistics.certificates import Certificates
from doctord.collect.postgres.statistics.clock import Clock
from doctord.collect.postgres.statistics.folders import Folders
from doctord.collect.postgres.statistics.freezing import Freezing
from doctord.collect.postgres.statistics.held import Held
from doctord.collect.postgres.statistics.horizon import Horizon
from doctord.collect.postgres.statistics.limits import Limits
from doctord.collect.postgres.statistics.lock_table import LockTable
from doctord.collect.postgres.statistics.objects.notifiers import Notifiers
from doctord.collect.postgres.statistics.objects.relations import Relations
from doctord.collect.postgres.statistics.objects.schema import Schema
from doctord.collect.postgres.statistics.plans.plans import Plans
from doctord.collect.postgres.statistics.rights import note_rights
from doctord.collect.postgres.statistics.role_settings import RoleSettings
from doctord.collect.postgres.statistics.settings import Settings
from doctord.collect.postgres.statistics.sizes import Sizes
from doctord.collect.postgres.statistics.statements import Statements
from doctord.collect.postgres.statistics.tablespace_options import TablespaceOptions
from doctord.collect.postgres.statistics.unacknowledged import Unacknowledged
from doctord.collect.postgres.statistics.views import ClusterViews
from doctord.collect.postgres.statistics.wait_sampling import WaitSampling
from doctord.collect.postgres.statistics.wal.archiver import Archiver
from doctord.collect.postgres.statistics.wal.replication import Replication
from doctord.collect.postgres.statistics.wal.subscriptions import Subscriptions
from doctord.errors import UserError


class Part(Protocol):
    """One kind of thing to read. `read` may raise what Link.query raises."""

    name: str
    cadence: Cadence

    def read(self, link: Link) -> list[Batch]:
        """Rows since the last call."""
        ...

    def close(self) -> None:
        """Let go of connections of its own."""
        ...


class StatisticsCollector:
    """Fills `statistic`, `statement`, `plan`, `space`, `filesystem` and `setting` for one server.

    `event` has what its log tells.

    The views of the whole server are read every five seconds. What costs more is read once or twice a minute, and in
    the first half minute also whenever a check-up may end, so that a short one has increases to show too.
    """

    period_s = 5.0

    def __init__(self, link: Link, notifying: NotifyQueue | None = None) -> None:
        """The link is opened with the first sample, in the thread that takes it; `notifying`: who waits to do so."""
        self.name = f"{link.db} statistics"
        self._link = link
        self._cost = Cost(self.name)
        held, statements = Held(), Statements()
        self._log = ServerLog(link.db, held.known)
        self._parts: tuple[Part, ...] = (
            Settings(),
            RoleSettings(),
            TablespaceOptions(),
            ConfigurationFiles(),
            LoginLimits(),
            ClusterViews(),
            Horizon(),
            held,
            Unacknowledged(),
            Freezing(),
            LockTable(),
            Limits(),
            Listening(),
            Clock(),
            Replication(),
            Subscriptions(),
            Archiver(),
            statements,
            Plans(statements),
            Relations(),
            Sizes(),
            Folders(),
            WaitSampling(),
            Schema(),
            Certificates(),
            Notifiers(notifying or NotifyQueue()),
        )

    def sample(self) -> list[Batch]:
        """What every part that is due has to say; what went wrong as `event`."""
        return [*self.pieces()]

    def pieces(self) -> Iterator[Batch]:
        """The same part by part: on a host without a free CPU the first sample takes longer than many a check-up."""
        try:
            with self._cost:
                yield from self._log.read()  # first: it tells why the server may be away
                if self._link.connection is None:
                    self._log.find_unasked(self._link)  # the connection may come late, or never
                if self._link.open():
                    note_rights(self._link)
                    yield self._link.own_backend()
                self._log.find(self._link)
                yield from self._due_parts()
        except Away:
            pass  # the link has noted why
        yield from self._cost.batches()
        yield from self._link.notices.batches()

    def _due_parts(self) -> Iterator[Batch]:
        """Of each part that is due; and of the log, should they take longer than it may wait."""
        read_at = time.monotonic()
        for part in self._parts:
            if part.cadence.due(time.monotonic()):
                yield from self._read(part)
            if time.monotonic() - read_at >= self.period_s:
                read_at = time.monotonic()
                yield from self._log.read()

    def close(self) -> None:
        """Close the connections."""
        for part in self._parts:
            part.close()
        self._link.close()
        self._log.close()

    def _read(self, part: Part) -> list[Batch]:
        try:
            return part.read(self._link)
        except UserError as refusal:
            self._link.notices.not_measured(self._link.db, part.name, str(refusal), refusal.hint)
        return []
