"""`doctord lab`: inject a fault into a private server, to learn from it or to test the diagnosis."""

import difflib
import json
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from doctord.cli import app
from doctord.cli.arguments import Refusal, parse_duration, said
from doctord.printable import log_to_standard_error

if TYPE_CHECKING:
    from doctord.diagnose.finding import Diagnosis
    from doctord.lab.fault import Fault
    from doctord.lab.run import Outcome
    from doctord.lab.server import Server
    from doctord.lab.workload import Pace

lab = typer.Typer(no_args_is_help=True, help="Inject a fault into a private PostgreSQL server and look at it.")
app.add_typer(lab, name="lab")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@lab.command("list")
def list_faults(*, as_json: AsJson = False) -> None:
    """List the faults.

    Exit status: 0.
    """
    from doctord.lab.fault import all_faults

    faults = all_faults().values()
    if as_json:
        typer.echo(json.dumps([_described(fault) for fault in faults], indent=2))
        return
    width = max(len(fault.name) for fault in faults)
    for fault in faults:
        typer.echo(f"{fault.name:<{width}}  {fault.summary}{' (root)' if fault.needs_root else ''}")


@lab.command("run")
def run_fault(
    name: Annotated[str, typer.Argument(metavar="FAULT", help="A name from `doctord lab list`.")],
    duration: Annotated[
        str, typer.Option("--for", metavar="LENGTH", help="How long the fault lasts, once it bites.")
    ] = "20s",
    bin_dir: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of PostgreSQL's programs.")] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="For everything random in the load.")] = 1,
    *,
    diagnose: Annotated[bool, typer.Option("--diagnose", help="Run the check-up against the server.")] = False,
    as_json: AsJson = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the server's folder, stopped, with its logs.")] = False,
) -> None:
    """Start a private server, load it lightly, inject FAULT, and remove everything in the end.

    Without --diagnose it says how to connect and leaves you the time to look.

    Exit status: 0 nothing was looked for or found, or the fault cannot be injected here, 1 the check-up found
    something, 2 the server cannot be started, or a wrong option.
    """
    from doctord.lab.run import run

    log_to_standard_error("doctord: %(message)s", logging.INFO)
    with said():
        fault = _named(name)
        seconds = parse_duration(duration)
        look = _checkup(seconds) if diagnose else _invitation(fault, seconds, keep=keep)
        outcome = run(fault, look, seed=seed, bin_dir=bin_dir, keep=keep)
    typer.echo(json.dumps(_document(outcome), indent=2) if as_json else _text(outcome))
    raise typer.Exit(1 if outcome.first_cause else 0)


def _named(name: str) -> "Fault":
    from doctord.lab.fault import all_faults

    faults = all_faults()
    if name in faults:
        return faults[name]
    near = difflib.get_close_matches(name.replace("-", "_"), faults, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise Refusal(f"there is no fault {name!r}", f"{hint}`doctord lab list` shows them all")


def _checkup(seconds: float) -> "Callable[[Server], Diagnosis]":
    from doctord.app.diagnose import diagnose
    from doctord.app.source import Live
    from doctord.cli._terminal import Terminal

    # Without a past: this host's own is not that of a private server.
    return lambda server: diagnose(Live(seconds, [server.dsn]), watcher=Terminal()).diagnosis


def _invitation(fault: "Fault", seconds: float, *, keep: bool) -> "Callable[[Server], None]":
    def invite(server: "Server") -> None:
        typer.echo(f"{fault.description}\n\nLook at it for {seconds:g} s:", err=True)
        typer.echo(f'  psql "{server.dsn}"\n  doctord checkup --dsn "{server.dsn}"', err=True)
        if keep:
            typer.echo(f"Its folder stays: {server.folder}", err=True)
        time.sleep(seconds)

    return invite


def _described(fault: "Fault") -> dict[str, Any]:
    return {
        "fault": fault.name,
        "expected_cause": fault.cause,
        "needs_root": fault.needs_root,
        "description": fault.description,
    }


def _document(outcome: "Outcome") -> dict[str, Any]:
    from doctord.report.document import document

    return {
        "fault": outcome.fault.name,
        "expected_cause": outcome.fault.cause,
        "first_cause": outcome.first_cause,
        "correct": outcome.correct,
        "skipped": outcome.skipped,
        "throughput": {
            "before": asdict(outcome.before) if outcome.before else None,
            "during": asdict(outcome.during) if outcome.during else None,
        },
        "diagnosis": document(outcome.diagnosis) if outcome.diagnosis else None,
    }


def _text(outcome: "Outcome") -> str:
    from doctord.report.terminal import render

    name = outcome.fault.name
    if outcome.skipped:
        return f"{name} was skipped: {outcome.skipped}"
    lines = [f"The light load before: {_paced(outcome.before)}; during {name}: {_paced(outcome.during)}."]
    if outcome.diagnosis:
        lines.insert(0, render(outcome.diagnosis))
        lines.append(f"Expected: {outcome.fault.cause or 'no finding'}; found: {outcome.first_cause or 'no finding'}.")
    return "\n".join(lines)


def _paced(pace: "Pace | None") -> str:
    if pace is None:
        return "not reported"
    latency = "" if pace.latency_ms is None else f", {pace.latency_ms:g} ms each"
    return f"{pace.tps:g} transactions/s{latency}"
