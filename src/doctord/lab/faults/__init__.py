"""The faults, one per file; the file has the fault's name. The docstring says what it does and what one sees then."""
