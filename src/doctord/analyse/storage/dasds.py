"""Disks of IBM Z and the parallel access volumes (PAV) that let several requests to one of them go on at once."""

from typing import NamedTuple

import polars as pl

from doctord.analyse import figures
from doctord.dataset.dataset import Dataset


class ControlUnit(NamedTuple):
    """Volumes and aliases of a logical control unit; its name is null where all of a host are told together."""

    name: str | None
    volumes: float
    aliases: float
    told_by: str


def control_units(dataset: Dataset) -> list[ControlUnit]:
    """The control units of a host, as the kernel or lsdasd -u has them, else as lsdasd or lscss count their devices."""
    aliases = {figure.entity: figure.last for figure in figures.figures(dataset, "dasd.aliases")}
    volumes = figures.figures(dataset, "dasd.volumes")
    live = [
        ControlUnit(unit.entity, unit.last, aliases[unit.entity], "dasd.aliases")
        for unit in volumes
        if unit.last and unit.entity in aliases
    ]
    return live or _of_lsdasd(dataset) or _of_lscss(dataset)


def _of_lsdasd(dataset: Dataset) -> list[ControlUnit]:
    volumes, counted = _volumes(dataset), figures.figures(dataset, "lsdasd.aliases")
    return [ControlUnit(None, volumes, counted[0].last, "lsdasd.aliases")] if counted and volumes else []


def _of_lscss(dataset: Dataset) -> list[ControlUnit]:
    """What is in use and no volume is an alias: a block device is made for each volume, and for no alias."""
    devices = dataset.frame("disk")["device"].drop_nulls()
    volumes = _volumes(dataset) or devices.filter(devices.str.contains(r"^dasd[a-z]+$")).n_unique()
    counted = figures.figures(dataset, "lscss.dasds")
    if not counted or not 0 < volumes <= counted[0].last:
        return []
    return [ControlUnit(None, volumes, counted[0].last - volumes, "lscss.dasds")]


def _volumes(dataset: Dataset) -> int:
    """Volumes by lsdasd's list."""
    settings = dataset.frame("setting").filter(pl.col("component") == "dasd")
    types = settings.filter((pl.col("name").str.ends_with(".type")) & (pl.col("value") == "ECKD"))
    return types["name"].n_unique()
