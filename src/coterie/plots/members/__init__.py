"""Pictures of the members of an ensemble: what each decides, how they differ, how they vote, what they drew."""
