"""What lies in the databases: tables, indexes, functions, partitions, their tablespaces, and what depends on what."""
