"""The dataset: what is known about a host, as typed tables in one vocabulary."""

from doctord.dataset.tables import TABLES, Column, Table

__all__ = ["TABLES", "Column", "Table"]
