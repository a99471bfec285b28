"""Settings of this host: its servers, its kernel, and the files that configure both."""

import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from doctord.app import read
from doctord.app.watcher import SILENT, Watcher
from doctord.collect.core.schedule import collect_for
from doctord.collect.host import Host
from doctord.dataset.dataset import Dataset
from doctord.read.source import ReadOptions

LOOK_S: Final = 6.0  # settings come with the first sample; what is counted needs two that lie 5 s apart
ROOT: Final = Path("/")
# Where distributions keep what the rules know, below the root.
FILES: Final = (
    "proc/mounts",
    "etc/fstab",
    "etc/sysctl.conf",
    "etc/sysctl.d/*.conf",
    "etc/security/limits.conf",
    "etc/security/limits.d/*.conf",
    "etc/multipath.conf",
    "etc/udev/rules.d/*.rules",
    *(
        f"{folder}/systemd/system/{unit}*.service{rest}"
        for folder in ("etc", "usr/lib", "run")
        for unit in ("postgresql", "mariadb", "mysql", "oracle")
        for rest in ("", ".d/*.conf")
    ),
)


def of_this_host(dsns: Sequence[str], watcher: Watcher = SILENT) -> Dataset:
    """Settings and two samples of this host and its servers (or those named), and what its files configure."""
    collectors = Host(dsns=dsns).collectors()
    with watcher.progress("Looking", LOOK_S, "s") as progress:
        live = Dataset.from_batches(collect_for(collectors, LOOK_S, progress))
    return Dataset.joined([live, *_read_files(list(configured(ROOT, watcher)), watcher)])


def configured(root: Path, watcher: Watcher = SILENT) -> Iterator[Path]:
    """The files below a root that say something: a file of comments alone is left out."""
    for pattern in FILES:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and _says_something(path, watcher):
                yield path


def _says_something(path: Path, watcher: Watcher) -> bool:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        watcher.note(f"{path} is not read: {error.strerror}")
        return False
    return any(line.strip() and not line.lstrip().startswith(("#", ";")) for line in lines)


def _read_files(paths: Sequence[Path], watcher: Watcher) -> list[Dataset]:
    """The settings of files as a dataset, said to be of this host; none where there are no files."""
    if not paths:
        return []
    frame = read.dataset_of(paths, ReadOptions(), watcher).frame("setting")
    return [Dataset({"setting": frame.with_columns(pl.lit(socket.gethostname()).alias("host")).to_arrow()})]
