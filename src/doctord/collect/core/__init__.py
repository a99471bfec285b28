"""What collectors of every kind share: how they are asked, what they note and cost, counters as rates."""
