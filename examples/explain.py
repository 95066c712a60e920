"""SHAP values of a model of the progression of diabetes: contributions of columns for one row and for many.

Run with: python examples/explain.py
"""

import numpy as np

from coterie import GradientBoostingRegressor
from coterie.datasets import load_table

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
