"""`doctord fleet`: the same question to many hosts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doctord.cli import Terminal, app, command, show, status
from doctord.cli.arguments import (
    Figures,
    Horizon,
    Json,
    Past,
    Thresholds,
    When,
    argument,
    file,
    flag,
    moment,
    name,
    number,
    takes,
)
from doctord.errors import UserError
from doctord.moments import asked_moment
from doctord.printable import json_text
from doctord.report.files import check_writable, write
from doctord.units import parse_duration

if TYPE_CHECKING:
    from doctord.app.fleet.engine import Engine
    from doctord.app.fleet.hosts import Host

fleet = typer.Typer(no_args_is_help=True, help="Ask many hosts the same: who is ill, and what they have in common.")
app.add_typer(fleet, name="fleet")

Place = Annotated[
    str, argument("A folder of lakes, one for each host, or what hosts ship to: a folder, s3://BUCKET.", "PLACE")
]


@dataclass(frozen=True, slots=True)
class Which:
    """Which hosts are asked, and on what that runs."""

    host: Annotated[list[str] | None, name("Only hosts of this name or pattern: 'db-*'.", "--host")] = None
    label: Annotated[list[str] | None, takes("NAME=VALUE")("Only hosts with this label: role=oltp.", "--label")] = None
    labels: Annotated[
        Path | None, file("Labels of hosts, in TOML or CSV (default: labels.toml or labels.csv in PLACE).")
    ] = None
    processes: Annotated[int | None, number("Processes to judge with (default: one for each CPU).", min=1)] = None
    engine: Annotated[
        str, name("What it runs on: local (processes), sail, or a cluster of Spark: sc://HOST:PORT.", "--engine")
    ] = "local"

    def hosts(self, place: str) -> "Sequence[Host]":
        """Those hosts; see `app.fleet.hosts`."""
        from doctord.app.fleet.hosts import Chosen, hosts_of

        return hosts_of(place, Chosen.asked(self.host or [], self.label or []), self.labels, Terminal())

    def runs_on(self) -> "Engine":
        """The engine.

        Raises:
            UserError: it is none that is known, or its libraries are not there.
        """
        import os

        if self.engine == "local":
            from doctord.fleet.processes import Processes

            return Processes(self.processes or len(os.sched_getaffinity(0)))
        if self.engine != "sail" and not self.engine.startswith("sc://"):
            raise UserError(f"{self.engine!r} is no engine", "local, sail, or sc://HOST:PORT")
        if self.processes:
            raise UserError("--processes is for local processes", "the engine has a number of its own")
        from doctord.fleet.spark import Spark

        return Spark(self.engine)


@command(fleet)
def diagnose(*, place: Place, when: When, past: Past = "1d", which: Which, json: Json = False) -> int:
    """Diagnose the same time of many hosts: the worst first, and what those that are ill have in common.

    Hosts with the same label `role` are peers: who is far above them at the same load is told too.

    Exit status: 0 no finding above a note on any host, 1 a warning or worse, 2 none, but a host could not be judged, or
    a wrong option.
    """
    from doctord.app.fleet.diagnose import diagnose_fleet
    from doctord.report.fleet import diagnose as words

    asked, engine = when.interval(past), which.runs_on()
    return show(diagnose_fleet(place, which.hosts(place), asked, engine, Terminal()), words, json=json)


@command(fleet)
def forecast(
    *, place: Place, thresholds: Thresholds = None, horizon: Horizon = "90d", which: Which, json: Json = False
) -> int:
    """Say which thresholds will be violated next, and on which of many hosts.

    Exit status: 0 none within the horizon, 1 some are or will be, 2 none, but of a host nothing can be told, or a wrong
    option.
    """
    from doctord.app.capacity.rules import rules_of
    from doctord.app.fleet.forecast import Asked, forecast_fleet
    from doctord.report.fleet import forecast as words

    asked, engine = Asked(rules_of(thresholds), parse_duration(horizon)), which.runs_on()
    return show(forecast_fleet(place, which.hosts(place), asked, engine, Terminal()), words, json=json)


@command(fleet)
def lint(*, place: Place, when: When, which: Which, json: Json = False) -> int:
    """Say what the recorded settings of many hosts get wrong, each by its workload of that time.

    Exit status: 0 notes at most, 1 something worse, 2 none, but of a host no setting is known, or a wrong option.
    """
    from doctord.app.fleet.lint import lint_fleet
    from doctord.report.fleet import lint as words

    asked, engine = when.interval(), which.runs_on()
    return show(lint_fleet(place, which.hosts(place), asked, engine, Terminal()), words, json=json)


@command(fleet)
def profile(
    *,
    place: Place,
    at: Annotated[str | None, moment("End of today: 2026-11-20T10:00Z, -1d; each host's last row if not said.")] = None,
    busy_hour: Annotated[bool, flag("Values of each server's busy hour instead of whole days.", "--busy-hour")] = False,
    figures: Figures = None,
    thresholds: Thresholds = None,
    which: Which,
    json: Json = False,
) -> int:
    """Show the figures of many hosts, 90, 30 and 7 days ago and today: over all of them, and who is beyond a limit.

    Exit status: 0 nothing is violated, 1 a threshold is, or figures contradict each other, 2 nothing, but of a host
    there is nothing to show, or a wrong option.
    """
    from doctord.app.capacity.profile import Asked
    from doctord.app.fleet.profile import profile_fleet
    from doctord.report.fleet import profile as words

    asked, engine = Asked(asked_moment(at) if at else None, figures, thresholds, busy_hour), which.runs_on()
    return show(profile_fleet(place, which.hosts(place), asked, engine, Terminal()), words, json=json)


@command(fleet)
def report(
    *,
    place: Place,
    when: When,
    past: Past = "1d",
    thresholds: Thresholds = None,
    horizon: Horizon = "90d",
    which: Which,
    output: Annotated[Path, file("File to write.", "--output", "-o")] = Path("fleet.html"),
    json: Json = False,
) -> int:
    """Write one HTML page of many hosts: who is ill, of what together, and what runs out next. It is readable offline.

    It is what `fleet diagnose` says of that time, and `fleet forecast` of all that is kept.

    Exit status: 0 no finding above a note on any host, 1 a warning or worse, 2 none, but a host could not be judged, or
    a wrong option.
    """
    from doctord.app.capacity.forecast import check_installed
    from doctord.app.capacity.rules import rules_of
    from doctord.app.fleet.diagnose import diagnose_fleet
    from doctord.app.fleet.forecast import Asked, forecast_fleet
    from doctord.report.fleet import page
    from doctord.report.fleet.diagnose import verdict

    check_writable(output)
    check_installed()
    asked, ahead, engine = when.interval(past), Asked(rules_of(thresholds), parse_duration(horizon)), which.runs_on()
    hosts = which.hosts(place)
    found = diagnose_fleet(place, hosts, asked, engine, Terminal())
    foretold = forecast_fleet(place, hosts, ahead, engine, Terminal())
    write(output, page.render(found, foretold))
    typer.echo(json_text(page.document(found, foretold)) if json else f"{verdict(found)}\n{output}")
    return status(found.healthy)


@command(fleet)
def study(
    *,
    place: Place,
    before: Annotated[str, takes("FROM..TO")("The period before.", "--before")],
    after: Annotated[str, takes("FROM..TO")("The period after.", "--after")],
    changed: Annotated[
        list[str],
        takes("HOST|NAME=VALUE")("Hosts that were changed: a pattern of names, or a label; repeatable.", "--changed"),
    ],
    load: Annotated[str | None, name("Unit of load: commit, execution, statement.")] = None,
    which: Which,
    json: Json = False,
) -> int:
    """Say whether a change was for the better that was made on some hosts, by what happened to the others meanwhile.

    The cost of a unit of load, after over before: the mean of the changed hosts over that of the others, each host
    being one observation. `--host` and `--label` say which hosts take part at all.

    Exit status: 0 better or no difference, 1 worse, 2 not comparable, or a wrong option.
    """
    from doctord.app.fleet.hosts import Chosen
    from doctord.app.fleet.study import Asked, study_fleet
    from doctord.report.fleet import study as words

    of_change = tuple(Chosen.asked([], [one]) if "=" in one else Chosen.asked([one], []) for one in changed)
    asked, engine = Asked(before, after, of_change, load), which.runs_on()
    return show(study_fleet(place, which.hosts(place), asked, engine, Terminal()), words, json=json)
