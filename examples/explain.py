"""Why a disease is expected to progress as the model says: columns by what they brought, for one row and for many.

Run with: python examples/explain.py
"""

import numpy as np

from coterie import GradientBoostingRegressor
from coterie.datasets import load_table

X, y = load_table("diabetes")
names = list(X)
model = GradientBoostingRegressor(n_estimators=100, random_state=0).fit(X, y)

some = {name: column[:50] for name, column in X.items()}
why = model.explain(some, interactions=True)
assert np.allclose(why.scores, model.predict(some))

print("The first row:")
print(why.words(0, most=4))

print("\nOver 50 rows, the mean size of what each column brought:")
for place in np.argsort(-why.importance)[:5]:
    print(f"  {names[place]:5} {why.importance[place]:6.2f}")

together = np.abs(why.interactions).mean(axis=0)
np.fill_diagonal(together, 0.0)
a, b = np.unravel_index(together.argmax(), together.shape)
print(f"\nThe pair that matters most beyond its parts: {names[a]} and {names[b]}")
