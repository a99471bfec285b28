"""Response against load, by queueing: flat at first, and without bound where the servers are busy all the time.

Two curves. M/M/m, one queue before m servers: A. K. Erlang, "Solution of some problems in the theory of probabilities
of significance in automatic telephone exchanges" (1917), and L. Kleinrock, "Queueing Systems" I (1975), 3.5; with a
factor on the wait for arrivals and work that vary more, or less, than Poisson's: A. O. Allen, "Probability, Statistics,
and Queueing Theory" (1990), 5.3 (Allen and Cunneen's approximation). And S / (1 - rho^k), where each server has a queue
of its own or something else sets the limit: N. J. Gunther, "Analyzing Computer System Performance with Perl::PDQ"
(2005), 2.7.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol, Self

import numpy as np

from doctord.analyse.capacity.series import Numbers

# Shares of the time that servers are busy at which a curve is known; between them it is interpolated.
RHO: Final = np.concatenate(
    [np.geomspace(1e-7, 9e-4, 50), np.linspace(1e-3, 0.9, 600), 1 - np.geomspace(0.0999, 1e-6, 400)]
)


class Curves(Protocol):
    """Curves of one kind: the one that fits best, then those of resampled points, each figure an array of them.

    Loads and responses may have any unit: requests per second and ms, busy CPUs and seconds per second of work.
    """

    @property
    def name(self) -> str:
        """The formula of the curve that fits best, with its parameters, for people."""
        ...

    def best(self) -> Self:
        """The curve that fits best, without those of resampled points."""
        ...

    @property
    def service(self) -> Numbers:
        """Response at no load, in the unit of the responses, of each curve."""
        ...

    @property
    def saturation(self) -> Numbers:
        """The load that they approach but cannot pass."""
        ...

    def response(self, load: float) -> Numbers:
        """Response at a load; infinite from saturation on."""
        ...

    def load_at(self, stretch: float | Numbers) -> Numbers:
        """The load at which a response is so many times the one without a queue."""
        ...


@dataclass(frozen=True, eq=False)
class Erlang:
    """M/M/m with a factor on the wait.

    Attributes:
        service: Response without a queue.
        saturation: Servers divided by the work of a request.
        servers: How many there are.
        variability: What the wait of M/M/m is multiplied by; 1 for Poisson arrivals and exponential work.
    """

    service: Numbers
    saturation: Numbers
    servers: Numbers
    variability: Numbers

    @property
    def name(self) -> str:
        """`M/M/m` with the number of servers of the best curve, and the factor on its waits where that is not 1."""
        varied = f", waits times {self.variability[0]:.2g}" if self.variability[0] != 1 else ""
        return f"M/M/{self.servers[0]:.0f}{varied}"

    def best(self) -> Self:
        """The curve that fits best, without those of resampled points."""
        return type(self)(self.service[:1], self.saturation[:1], self.servers[:1], self.variability[:1])

    def response(self, load: float) -> Numbers:
        """Response at a load; infinite from saturation on."""
        rho = load / self.saturation
        waits = np.array([np.interp(at, RHO, waiting(int(m))) for at, m in zip(rho, self.servers, strict=True)])
        return np.where(rho < 1, self.service * (1 + self.variability * waits), np.inf)

    def load_at(self, stretch: float | Numbers) -> Numbers:
        """The load at which a response is so many times the one without a queue."""
        waits = (np.asarray(stretch) - 1) / self.variability
        waits = np.broadcast_to(waits, self.saturation.shape)
        rho = [np.interp(wait, waiting(int(m)), RHO) for wait, m in zip(waits, self.servers, strict=True)]
        return np.asarray(np.array(rho) * self.saturation)


@dataclass(frozen=True, eq=False)
class Power:
    """S / (1 - rho^k): exact for k = m = 1 and 2 servers, and close to M/M/m for more; k need not be m, though.

    Attributes:
        service: Response without a queue.
        saturation: Load without bound of the response.
        exponent: k: how late, and how suddenly, the response rises.
    """

    service: Numbers
    saturation: Numbers
    exponent: Numbers

    @property
    def name(self) -> str:
        """`S / (1 - rho^k)` with the exponent of the best curve."""
        return f"S / (1 - rho^{self.exponent[0]:.2g})"

    def best(self) -> Self:
        """The curve that fits best, without those of resampled points."""
        return type(self)(self.service[:1], self.saturation[:1], self.exponent[:1])

    def response(self, load: float) -> Numbers:
        """Response at a load; infinite from saturation on."""
        rho = load / self.saturation
        with np.errstate(divide="ignore"):
            return np.where(rho < 1, self.service / (1 - np.minimum(rho, 1) ** self.exponent), np.inf)

    def load_at(self, stretch: float | Numbers) -> Numbers:
        """The load at which a response is so many times the one without a queue."""
        return np.asarray(self.saturation * (1 - 1 / np.asarray(stretch)) ** (1 / self.exponent))


def erlang_c(servers: int, offered: Numbers) -> Numbers:
    """The share of requests that must wait: Erlang's second formula, by the recursion of his first.

    Args:
        servers: How many serve one queue.
        offered: How many of them are busy on average, below `servers`.

    >>> erlang_c(1, np.array([0.5])).tolist(), erlang_c(4, np.array([3.4])).round(3).tolist()
    ([0.5], [0.689])
    """
    blocked = np.ones_like(offered)
    for number in range(1, servers + 1):
        blocked = offered * blocked / (number + offered * blocked)
    return np.asarray(blocked / (1 - offered / servers * (1 - blocked)))


@lru_cache(maxsize=256)
def waiting(servers: int) -> Numbers:
    """How long a request of M/M/m waits, in times of its service, at each of RHO."""
    return np.asarray(erlang_c(servers, RHO * servers) / (servers * (1 - RHO)))
