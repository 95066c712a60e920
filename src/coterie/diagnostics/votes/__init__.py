"""How the members of an ensemble vote, and what is counted from it."""
