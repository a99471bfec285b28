"""Evidence and figures that several causes share."""
