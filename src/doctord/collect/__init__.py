"""Live collectors: each yields rows for the dataset's tables, and its own cost."""
