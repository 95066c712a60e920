"""SHAP values of models of the progression of diabetes: contributions of columns for one row and for many.

Run with: python examples/explain.py
"""

import numpy as np

from coterie import CommitteeRegressor, GradientBoostingRegressor
from coterie.datasets import load_table
from coterie.plots import BeeswarmDisplay

X, y = load_table("diabetes")
names = list(X)
model = GradientBoostingRegressor(n_estimators=100, random_state=0).fit(X, y)

some = {name: column[:50] for name, column in X.items()}
explained = model.explain(some, interactions=True)
assert np.allclose(explained.predictions, model.predict(some))

print("The first row:")
print(explained.to_text(0, max_columns=4))

print("\nThe mean absolute SHAP value of each column over 50 rows:")
for place in np.argsort(-explained.importance)[:5]:
    print(f"  {names[place]:5} {explained.importance[place]:6.2f}")

together = np.abs(explained.interactions).mean(axis=0)
np.fill_diagonal(together, 0.0)
a, b = np.unravel_index(together.argmax(), together.shape)
print(f"\nThe pair of columns with the strongest interaction: {names[a]} and {names[b]}")

committee = CommitteeRegressor(None, portfolio=["linear", "forest"], random_state=0).fit(X, y)
explained = committee.explain(some, background=X, n_permutations=32)
assert np.allclose(explained.predictions, committee.predict(some))
print("\nThe first row by a committee:")
print(explained.to_text(0, max_columns=4))
for part in explained.methods:
    print(f"  {part}")

BeeswarmDisplay(explained).save("contributions.html")
print("\nAll contributions are in contributions.html.")
