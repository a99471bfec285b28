"""Commands in the process of the tests: to start one costs more than what most of them do."""

from pathlib import Path
from subprocess import CompletedProcess

from typer.testing import CliRunner

from doctord.cli import app, load


def doctord(*arguments: str | Path) -> CompletedProcess[str]:
    """What a command says and how it ends, as that of a process of its own; what it does not catch is raised.

    What streams, signals, a terminal or the environment do to a program is tested with a process.
    """
    load()
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(app, words, prog_name="doctord")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return CompletedProcess(words, result.exit_code, result.stdout, result.stderr)
