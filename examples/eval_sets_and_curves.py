"""Several eval sets and their curves: when did a model stop learning what also holds next year?

Which visits to a shop's website become orders? Two samples are held out: other visits of the same year, and visits of
the year after, when customers had changed. The losses of both and of the training rows are kept for each round, and
drawn in `curves.svg`. Early stopping ends growth by the last eval set.
"""

import numpy as np

from coterie import GradientBoostingClassifier
from coterie.plots import CurvesDisplay

FEATURES = ("minutes", "pages", "age", "discount")


def make_visits(n_rows: int, year: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Minutes and pages always count; what age and discounts mean changes with the year."""
    columns = rng.normal(size=(len(FEATURES), n_rows))
    minutes, pages, age, discount = columns
    trend = 1.0 if year == 0 else -0.2
    score = minutes + 0.7 * minutes * pages + trend * (np.sin(3 * age) + 0.5 * discount)
    ordered = score + rng.logistic(size=n_rows) > 0
    return dict(zip(FEATURES, columns, strict=True)), np.where(ordered, "order", "no order")


def main() -> None:
    rng = np.random.default_rng(0)
    visits, orders = make_visits(1500, 0, rng)
    held_out = {"same year": make_visits(800, 0, rng), "next year": make_visits(800, 1, rng)}
    settings = {"n_estimators": 150, "scoring": "auc", "random_state": 0}

    model = GradientBoostingClassifier(**settings, early_stopping=False, verbose=50)
    model.fit(visits, orders, eval_set=held_out)

    curves = {"training": model.train_losses_, **model.eval_losses_}
    for name, losses in curves.items():
        best = int(np.argmin(losses))
        print(f"{name:>10}: least log loss {losses[best]:.3f}, in round {best + 1}")
    for name, scores in model.eval_scores_.items():
        print(f"{name:>10}: AUC {scores[-1]:.3f} after the last round, {scores.max():.3f} at best")
    rounds = np.arange(1, len(model.train_losses_) + 1)
    CurvesDisplay(rounds, curves, title="Loss by round", x_label="round", y_label="log loss").save(
        "curves.svg"
    )
    print("The curves are in curves.svg.")

    stopped = GradientBoostingClassifier(**settings, n_iter_no_change=20).fit(
        visits, orders, eval_set=held_out
    )
    print(f"With early stopping by the last set, next year's, {stopped.n_estimators_} rounds are kept.")


if __name__ == "__main__":
    main()
