"""Use cases over many hosts; what they run on is given to them (`engine.Engine`, `doctord.fleet`)."""
