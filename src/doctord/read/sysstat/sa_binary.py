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
from typing import IO, Literal

from doctord._native import Batch
from doctord.errors import UserError
from doctord.read.format import Rank
from doctord.read.source import SourceFile
from doctord.read.sysstat.scan import scan
from doctord.regex import regex

NAME = "sysstat's binary file"
RANK = Rank.NAMED
MAGIC = regex("(?:\x96\xd5.\x21|\xd5\x96\x21.)", re.DOTALL)  # SYSSTAT_MAGIC 0xd596 and 0x21xx, in either byte order
FIRST_WITH_VERSION = 0x2170  # the layout of 9.1.6
PIECE_BYTES = 1 << 20
INSTALL = "install the package sysstat, or read the output of sadf -j FILE -- -A made elsewhere"
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
            stdin=subprocess.DEVNULL, stdout=copy, stderr=subprocess.PIPE, env=os.environ | ENVIRONMENT, check=False,
        )  # fmt: skip
        if done.returncode != 0 or not Path(copy.name).stat().st_size:
            raise _unreadable(source, file, complaints, done.stderr.decode(errors="replace"))
        complaints.clear()
        source.note("written by an older sysstat: converted by sadf -c")
        yield Path(copy.name)


def _unreadable(source: SourceFile, file: Path, complaints: list[str], of_conversion: str) -> UserError:
    """Who wrote the file, why this machine's sadf neither reads nor converts it, and which one could."""
    lines = of_conversion.replace(str(file), "").splitlines()
    converting = "; ".join(dict.fromkeys(line.strip(" :") for line in lines if line.strip())) or "no reason given"
    version, order = written_by(source.head)
    why = f"sadf cannot read it ({'; '.join(complaints)}), nor convert it (sadf -c: {converting})"
    return UserError(
        f"{source.name}: written by sysstat {version} on a {order} machine: {why}",
        f"with sysstat {version} on a {order} machine: sadf -j FILE -- -A > FILE.json; then read FILE.json",
    )


def written_by(head: str) -> tuple[str, str]:
    r"""Version of the sysstat that wrote a file, and the byte order of its machine, by the file's first eight bytes.

    Source: struct file_magic in sysstat's sa.h, from 9.1.6 on; older files have no version.

    >>> written_by("\x96\xd5\x71\x21\x0a\x01\x05\x00"), written_by("\xd5\x96\x21\x6f")
    (('10.1.5', 'little-endian'), ('before 9.1.6', 'big-endian'))
    """
    raw = head[:8].encode("latin-1", errors="replace")
    order: Literal["little", "big"] = "little" if raw[:1] == b"\x96" else "big"
    layout = int.from_bytes(raw[2:4], order)
    if layout < FIRST_WITH_VERSION or len(raw) < 8:
        return "before 9.1.6", f"{order}-endian"
    return ".".join(str(part) for part in raw[4:7]), f"{order}-endian"


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
