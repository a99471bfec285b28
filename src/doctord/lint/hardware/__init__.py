"""Rules on what a machine is built of, as its firmware tells it."""
