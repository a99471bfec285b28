"""Binary files of sysstat's sadc (`sa15`, `sa20261120`): read through the machine's own `sadf -j FILE -- -A`.

Tables, names and what is left out are those of sar's text; all times are in UTC. sadf reads what versions from
11.7.1 on wrote on machines of the same kind; older files are first converted by `sadf -c`. Without sysstat on the
machine the file is refused: sadf's JSON made elsewhere (`sadf -j FILE -- -A > FILE.json`) is read without it.
"""

import fcntl
import logging
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.sysstat.scan import scan

NAME = "sysstat's binary file"
RANK = Rank.NAMED
MAGIC = re.compile(
    "(?:\x96\xd5.\x21|\xd5\x96\x21.)", re.DOTALL
)  # SYSSTAT_MAGIC 0xd596 and 0x21xx, in either byte order
PIECE_BYTES = 1 << 20
INSTALL = "install the package sysstat, or read the output of sadf -j FILE -- -A made elsewhere"
ELSEWHERE = "read the output of sadf -j FILE -- -A, made where the file comes from"
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC"}
LOG = logging.getLogger(__name__)


def sniff(head: str) -> bool:
    """Whether it begins with sysstat's magic number."""
    return MAGIC.match(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """The rows of the file, while sadf writes them.

    Raises:
        UserError: there is no sadf, or it cannot read the file.
    """
    sadf = shutil.which("sadf")
    if sadf is None:
        raise UserError(f"{source.name}: a binary file of sysstat, and there is no sadf here", INSTALL)
    complaints: list[str] = []
    with source.as_file() as path, ExitStack() as held:
        pieces = _printed(sadf, path.absolute(), complaints)
        first = next(pieces, None)
        if first is None:
            copy = held.enter_context(_converted(sadf, path.absolute(), source, complaints))
            pieces = _printed(sadf, copy, complaints)
            first = next(pieces, b"")
        yield from scan("json", source, chain([first], pieces))
    for complaint in complaints:
        source.note(f"sadf: {complaint}")


@contextmanager
def _converted(sadf: str, file: Path, source: SourceFile, complaints: list[str]) -> Iterator[Path]:
    """What `sadf -c` makes of a file that is too old to be read as it is; the complaints about that are taken back."""
    with NamedTemporaryFile(prefix="doctord-sa-") as copy:
        done = subprocess.run(
            [sadf, "-c", file],
            stdin=subprocess.DEVNULL, stdout=copy, stderr=subprocess.DEVNULL, env=os.environ | ENVIRONMENT, check=False,
        )  # fmt: skip
        if done.returncode != 0 or not Path(copy.name).stat().st_size:
            raise UserError(f"{source.name}: sadf cannot read it: {', '.join(complaints)}", ELSEWHERE)
        complaints.clear()
        source.note("written by an older sysstat: converted by sadf -c")
        yield Path(copy.name)


def _printed(sadf: str, file: Path, complaints: list[str]) -> Iterator[bytes]:
    """What sadf prints of a file, in pieces, as it prints it; then what it complains of."""
    ours, its = os.pipe()
    with os.fdopen(ours, "rb", buffering=0) as pipe, NamedTemporaryFile(prefix="doctord-sadf-") as said:
        _widen(pipe)
        command = [sadf, "-jC", str(file), "--", "-A"]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=its, stderr=said, env=os.environ | ENVIRONMENT
        ) as process:
            os.close(its)
            try:
                while piece := pipe.read(PIECE_BYTES):
                    yield piece
            finally:
                process.kill()  # where nobody reads on
        lines = Path(said.name).read_text(errors="replace").replace(str(file), "").splitlines()
        complaints += dict.fromkeys(line.strip(" :") for line in lines if line.strip())


def _widen(pipe: IO[bytes]) -> None:
    try:
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIECE_BYTES)
    except OSError as error:  # a limit for users; the pipe works as it is
        LOG.debug("the pipe stays narrow: %s", error)
