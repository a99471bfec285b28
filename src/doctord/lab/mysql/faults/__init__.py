"""Faults of MariaDB and MySQL, one per file; what they do, and what one sees then, stands in the docstring."""
