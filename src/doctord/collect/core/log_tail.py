"""The end of a log that is still written: whole lines that were appended since the last look, file after file."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

# Of one look: the newest. Reading it takes a tenth of a second; a server that logs more logs its statements.
AT_MOST_BYTES: Final = 2**24


class Appended(NamedTuple):
    """Whole lines, and which part (0 to 1] of all that was appended they are; below 1 the oldest were left out.

    `bytes` is how much was appended in all, lines that are not ended yet and those left out included.
    """

    lines: bytes
    part: float
    bytes: int


class LogTail:
    """A file from its end on, wherever it is cut off or truncated, and those that come after it."""

    def __init__(self, path: str | Path) -> None:
        """Open it: what is appended from now on is read.

        Raises:
            OSError: It may not be read.
        """
        self._files = [os.open(path, os.O_RDONLY | os.O_CLOEXEC)]
        self._name, self._beside = Path(path).name, _beside(Path(path))
        self._rest = b""
        os.lseek(self._files[0], 0, os.SEEK_END)

    def follow(self, path: str | Path) -> None:
        """Go on in another file of the folder: with what came into it, and into others, since the last one was begun.

        A server that logs megabytes a second leaves several files behind from one look to the next.

        Raises:
            OSError: It may not be read.
        """
        last, now = Path(path), _beside(Path(path))
        before = self._beside.sizes if now.folder == self._beside.folder else now.sizes
        grown = [name for name, size in now.sizes.items() if name != self._name and size != before.get(name)]
        for name in [*sorted(grown), last.name]:
            self._files.append(os.open(last.with_name(name), os.O_RDONLY | os.O_CLOEXEC))
            os.lseek(self._files[-1], before.get(name, 0), os.SEEK_SET)
        self._name, self._beside = last.name, now

    def go_on(self, path: str | Path) -> None:
        """Go on in the file that has the name of the last one now: with the whole of it.

        Raises:
            OSError: It may not be read.
        """
        self._files.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def appended(self) -> Appended:
        """What was appended since the last call; what is not ended yet waits for the next one."""
        try:
            sizes = [self._unread(file) for file in self._files]
            left_out = skipped = max(sum(sizes) - AT_MOST_BYTES, 0)
            parts = []
            for file, size in zip(self._files, sizes, strict=True):
                os.lseek(file, min(size, skipped), os.SEEK_CUR)
                parts.append(os.read(file, max(size - skipped, 0)))
                skipped = max(skipped - size, 0)
            new = b"".join(parts)
        except OSError:
            return Appended(b"", 1.0, 0)
        self._leave(self._files[:-1])
        begun, total = self._rest, len(new) + left_out
        if left_out:
            begun, (_, _, new) = b"", new.partition(b"\n")  # without the line that began before
        whole, end, self._rest = (begun + new).rpartition(b"\n")
        self._rest = self._rest if len(self._rest) < AT_MOST_BYTES else b""  # no log: it has no lines
        return Appended(whole + end, len(new) / total if left_out else 1.0, total)

    def close(self) -> None:
        """Close the file."""
        self._leave(self._files)

    def _unread(self, file: int) -> int:
        size, at = os.fstat(file).st_size, os.lseek(file, 0, os.SEEK_CUR)
        if size < at:  # it was truncated, as logrotate's copytruncate does
            at, self._rest = os.lseek(file, 0, os.SEEK_SET), b""
        return size - at

    def _leave(self, files: list[int]) -> None:
        for file in files:
            os.close(file)
        self._files = self._files[len(files) :]


class _Beside(NamedTuple):
    """Which folder it is, and the sizes of the files of its kind there but itself: it may go on in one of these."""

    folder: tuple[int, int] | None
    sizes: dict[str, int]


def _beside(path: Path) -> _Beside:
    """What lies beside a log; nothing where that is not granted to see."""
    with suppress(OSError), os.scandir(path.parent) as entries:
        folder = path.parent.stat()
        sizes = {
            one.name: one.stat().st_size
            for one in entries
            if one.name.endswith(path.suffix) and one.name != path.name and one.is_file(follow_symlinks=False)
        }
        return _Beside((folder.st_dev, folder.st_ino), sizes)
    return _Beside(None, {})
