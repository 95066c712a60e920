"""What a committee may try, in which order, and what it costs."""
