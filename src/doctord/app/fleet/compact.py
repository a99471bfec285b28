"""Compact what hosts shipped, and remove what is too old."""

from datetime import UTC, datetime, timedelta

from doctord.app.watcher import SILENT, Watcher
from doctord.lake.store.compaction import Compacted, expire
from doctord.lake.store.compaction import compact as compacting
from doctord.lake.store.store import Store, StoreError


def compact(store: Store, settle: timedelta, keep: timedelta | None = None, watcher: Watcher = SILENT) -> Compacted:
    """Compact the days that ended long enough ago, and remove those that ended too long ago.

    Args:
        store: Where hosts ship to.
        settle: How long ago: what comes later makes small files.
        keep: How long days are kept; null: for ever.
        watcher: Who is told how it goes on.

    Raises:
        StoreError: the store refuses; the next run goes on where this one stopped.
    """
    done, now = Compacted(), datetime.now(UTC)
    try:
        with watcher.progress("Compacting", None, "files") as progress:
            for so_far in compacting(store, (now - settle).date(), done):
                progress(so_far.files)
    except OSError as error:
        told = f"{error.filename or 'a temporary file'}: {error.strerror or error}"
        raise StoreError(told, "make room in $TMPDIR: a bucket of a day is unpacked there") from error
    if keep is not None:
        expire(store, (now - keep).date(), done)
    return done
