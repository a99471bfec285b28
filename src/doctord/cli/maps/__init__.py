"""Commands on latency maps: of what is kept, and of what happens now."""
