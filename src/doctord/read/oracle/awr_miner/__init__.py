"""What the script AWR-miner (T. Muth) took from AWR, section by section."""
