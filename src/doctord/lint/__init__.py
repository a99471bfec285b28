"""Settings: what a configuration gets wrong for this machine and this workload, and what that costs here."""
