"""Has the load of what is sealed summed up while the server runs, so that a long time is told within a moment."""

import os
import subprocess
from pathlib import Path
from typing import Final

import anyio
import anyio.to_thread

from doctord.app.sum_load import command
from doctord.lake.load_sums import missing
from doctord.serve.lakes import Lakes

EVERY_S: Final = 60.0


async def keep_summing(lakes: Lakes) -> None:
    """Look every minute whether something was sealed, and have it summed up; one lake after the other."""
    while True:
        for place in lakes.places.values():
            if await anyio.to_thread.run_sync(_is_behind, place):
                await _sum_up(place)
        await anyio.sleep(EVERY_S)


def _is_behind(lake: Path) -> bool:
    return os.access(lake, os.W_OK) and bool(missing(lake))


async def _sum_up(lake: Path) -> None:
    process = await anyio.open_process(
        command(lake), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    async with process:
        try:
            await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
