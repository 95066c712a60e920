"""The command line: a thin layer over the public names, one file a command. It needs the extra `cli`."""
