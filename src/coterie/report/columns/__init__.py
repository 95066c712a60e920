"""What the columns hold, what they do to predictions, and whether they changed since the fit."""
