"""Of vacuum: dead rows, who keeps them, and transaction ids that run out."""
