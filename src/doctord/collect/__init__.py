"""Live collectors: each yields rows for the chart's tables, and its own cost."""
