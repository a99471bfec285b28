"""Settings that each component knows: a CSV file for each, made from what the servers themselves list."""
