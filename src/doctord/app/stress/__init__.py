"""Load tests: of a database, and of a device or file system."""
