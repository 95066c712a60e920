"""Several eval sets and their curves: when did a model stop learning what also holds next year?

Which visits to a shop's website become orders? Two samples are held out: other visits of the same year, and visits of
the year after, when customers had changed. The losses of both and of the training rows are kept for each round, and
drawn here as shades of text. `early_stopping` ends growth by the last eval set.
"""

import numpy as np

from coterie import GradientBoostingClassifier

FEATURES = ("minutes", "pages", "age", "discount")


def make_visits(n_rows: int, year: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Minutes and pages always count; what age and discounts mean changes with the year."""
    columns = rng.normal(size=(len(FEATURES), n_rows))
    minutes, pages, age, discount = columns
    trend = 1.0 if year == 0 else -0.2
    score = minutes + 0.7 * minutes * pages + trend * (np.sin(3 * age) + 0.5 * discount)
    ordered = score + rng.logistic(size=n_rows) > 0
    return dict(zip(FEATURES, columns, strict=True)), np.where(ordered, "order", "no order")


def draw(name: str, losses: np.ndarray, n_columns: int = 60) -> str:
    """A curve in one line of text: the darker, the higher the loss."""
    shades = "█▓▒░ "
    places = np.linspace(0, len(losses) - 1, n_columns).round().astype(int)
    spread = np.ptp(losses) or 1.0
    levels = (len(shades) - 1) * (losses.max() - losses[places]) / spread
    return f"{name:>10} {''.join(shades[int(own)] for own in levels)}"


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
        print(f"{draw(name, losses)}  least log loss {losses[best]:.3f}, in round {best + 1}")
    for name, scores in model.eval_scores_.items():
        print(f"{name:>10}: AUC {scores[-1]:.3f} after the last round, {scores.max():.3f} at best")

    stopped = GradientBoostingClassifier(**settings, n_iter_no_change=20).fit(
        visits, orders, eval_set=held_out
    )
    print(f"With early stopping by the last set, next year's, {stopped.n_estimators_} rounds are kept.")


if __name__ == "__main__":
    main()
