"""Models of other libraries, read from their files and objects."""
