"""The command line: a thin layer over the public names, one file a verb. It needs the extra `cli`."""
