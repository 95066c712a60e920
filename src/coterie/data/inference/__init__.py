"""What columns of strings mean: numbers, dates, times, flags, labels or texts; and how to read the same again."""
