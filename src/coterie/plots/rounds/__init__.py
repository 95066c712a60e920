"""Pictures of what happens round by round: errors, bounds, weights of rows, and a regression fitted step by step."""
