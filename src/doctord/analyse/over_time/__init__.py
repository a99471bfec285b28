"""Load, figures and blocking trees bucket by bucket, for graphs: nothing of it is part of a verdict."""
