"""The host's: CPUs, memory, storage, network, and what is above them and below."""
