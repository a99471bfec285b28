"""`doctord verify` and `doctord repair`: whether a lake is what was written to it, and set right what is not."""

import typer

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Json, LakeNamed


@command(app)
def verify(*, lake: LakeNamed = None, json: Json = False) -> int:
    """Read every file of a lake to its end, hold it against its checksums, and name what is damaged.

    Nothing is changed, and a recorder may go on writing.

    Exit status: 0 sound, 1 something is damaged or missing, 2 there is no lake, or a wrong option.
    """
    from doctord.app import verify as verifying
    from doctord.report import lake as words

    found = verifying.verify(lake, Terminal())
    ends = show(found, words, json=json)
    if found.flaws and not json:
        typer.echo("hint: doctord repair sets these right; it deletes nothing", err=True)
    return ends


@command(app)
def repair(*, lake: LakeNamed = None, json: Json = False) -> int:
    """Cut damage out of a lake, and set aside what cannot be read: in LAKE/set_aside, nothing is deleted.

    Files written by an older doctord get checksums. The recorder of this lake must be stopped.

    Exit status: 0 the lake is right now, 2 there is no lake, or a wrong option.
    """
    from doctord.app import verify as verifying
    from doctord.report import lake as words

    return show(verifying.repair(lake, Terminal()), words, json=json)
