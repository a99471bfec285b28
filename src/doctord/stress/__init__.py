"""Load that is put on a database or on storage on purpose, to find out what it can take. What it leaves is dropped."""
