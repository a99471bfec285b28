"""Of what clients were refused, lost or waited for outside their statements."""
