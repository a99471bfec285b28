"""Who may connect, and what the files say of it that the server has not taken."""
