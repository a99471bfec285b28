"""Has the load of what is sealed summed up while the server runs, so that a long time is told within a moment."""

import logging
import os
import subprocess
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from doctord.app.over_time.sum_load import command
from doctord.lake.load_sums import missing
from doctord.serve.lakes import Lakes

EVERY_S: Final = 60.0
log = logging.getLogger(__name__)


async def keep_summing(lakes: Lakes) -> None:
    """Look every minute whether something was sealed, and have it summed up; one lake after the other."""
    left = dict[Path, list[str]]()  # what could not be summed up: that is not tried again and again
    while True:
        for place in lakes.places.values():
            behind = await anyio.to_thread.run_sync(_missing, place)
            if behind != left.get(place, []):
                await _sum_up(place)
                left[place] = await anyio.to_thread.run_sync(_missing, place)
        await anyio.sleep(EVERY_S)


def _missing(lake: Path) -> list[str]:
    return missing(lake) if os.access(lake, os.W_OK) else []


async def _sum_up(lake: Path) -> None:
    try:
        process = await anyio.open_process(
            command(lake), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
    except OSError as error:
        log.warning("%s: not summed up: %s", lake, error)
        return
    async with process:
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
