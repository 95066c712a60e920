"""The model itself: its training, its members, its trees, and how to make it again."""
