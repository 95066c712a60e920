"""A report as a page, as text and Markdown, and as plain values."""
