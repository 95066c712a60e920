"""Where predictions are wrong: classes, residuals, single rows, parts of the table."""
