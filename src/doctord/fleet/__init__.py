"""What jobs over many hosts run on, each in one file: an adapter to an engine that exists (`app.fleet.engine`)."""
