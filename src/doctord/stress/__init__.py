"""Load that is put on a database on purpose, to find out how much it can take. What it leaves is dropped."""
