"""Boosting as descent: what each round does to the loss, and why it ends.

A model of energy use is fitted three times: with splines that are held back, weak learners of an unusual kind; with
trees; and with trees that go down a loss of one's own, for which running short costs four times as much as running
over. Then stumps that vote show that AdaBoost is a case of the same descent.
"""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from coterie import AnyBoostClassifier, AnyBoostRegressor, DecisionTreeClassifier
from coterie.losses import CustomLoss


def energy(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Hour of the day and temperature, and what a house then uses; the noise has a long tail."""
    rng = np.random.default_rng(seed)
    hour, degrees = rng.uniform(0, 24, n_rows), rng.normal(10, 8, n_rows)
    use = 3 + np.sin((hour - 14) / 24 * 2 * np.pi) + 0.2 * np.maximum(15 - degrees, 0)
    return np.column_stack([hour, degrees]), use + 0.3 * rng.standard_t(3, n_rows)


SHORT_COSTS_MORE = CustomLoss(  # a parabola on both sides, four times as steep above the answer
    value=lambda y, score: np.where(y > score, 4.0, 1.0) * (y - score) ** 2,
    gradient=lambda y, score: 2 * np.where(y > score, 4.0, 1.0) * (score - y),
)


def main() -> None:
    X, use = energy(600, seed=0)
    new_X, new_use = energy(600, seed=1)
    learners = {
        "splines": AnyBoostRegressor(
            make_pipeline(SplineTransformer(), Ridge(10)), loss="huber", n_estimators=60
        ),
        "trees": AnyBoostRegressor(loss="huber"),
        "trees, short costs more": AnyBoostRegressor(loss=SHORT_COSTS_MORE),
    }
    for name, model in learners.items():
        model.fit(X, use, eval_set=(new_X, new_use))
        short = np.mean(new_use > model.predict(new_X))
        print(f"{name}: R2 {model.score(new_X, new_use):.3f}, short for {100 * short:.0f} % of new hours")
        print(
            f"  {model.n_estimators_} rounds kept, because {model.stopped_because_}; training loss "
            f"{model.train_losses_[0]:.3f} after one round, {model.train_losses_[-1]:.3f} at the end"
        )

    high = np.where(use > np.median(use), "high", "low")
    stumps = AnyBoostClassifier(
        DecisionTreeClassifier(max_depth=1),
        loss="exponential",
        init="zero",
        learning_rate=1.0,
        n_estimators=5,
    ).fit(X, high)
    print("Stumps that vote on high or low use:")
    before = 1.0
    for inner, vote, loss in zip(stumps.inner_products_, stumps.steps_, stumps.train_losses_, strict=True):
        error = (1 + inner / before) / 2  # weights are losses, and the inner product tells the weighted error
        formula = np.log((1 - error) / error) / 2
        print(
            f"  weighted error {error:.3f}, vote {vote:.6f} (by AdaBoost's formula {formula:.6f}), loss {loss:.3f}"
        )
        before = loss


if __name__ == "__main__":
    main()
