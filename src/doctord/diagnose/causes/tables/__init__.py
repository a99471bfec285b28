"""Of the tables that statements read and write: their indexes, values, partitions, keys, policies and triggers."""
