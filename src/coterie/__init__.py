"""Every ensemble method, one engine."""
