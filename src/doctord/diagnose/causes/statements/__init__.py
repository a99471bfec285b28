"""Of what statements cost, and why."""
