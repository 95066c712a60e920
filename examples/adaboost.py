"""AdaBoost, round by round: who is a spammer, learned by stumps, and which labels were probably wrong.

A tenth of the labels are turned round. The training error falls under its bound, the error on new rows is measured
after each round, and the rows that weigh most at the end are compared with those that were turned round. At last
three algorithms are compared on new rows.
"""

import numpy as np

from coterie import AdaBoostClassifier

TOWNS = np.array(["Cork", "Lima", "Oslo", "Rome"])


def accounts(n_rows: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Messages a day, age that was not always given, town; and whether the account sends spam."""
    rng = np.random.default_rng(seed)
    messages, age = rng.exponential(20, n_rows), rng.integers(0, 3000, n_rows).astype(float)
    town = rng.choice(TOWNS, n_rows)
    spam = (messages > 25) & (age < 1200) | (town == "Lima") & (messages > 40)
    age[rng.random(n_rows) < np.where(spam, 0.4, 0.1)] = np.nan
    return {"messages": messages, "age": age, "town": town}, np.where(spam, "spam", "fine")


def main() -> None:
    table, truth = accounts(2000, seed=0)
    new = accounts(2000, seed=1)
    turned = np.random.default_rng(2).random(len(truth)) < 0.1
    labels = np.where(turned, np.where(truth == "spam", "fine", "spam"), truth)

    model = AdaBoostClassifier(n_estimators=200).fit(table, labels, eval_set=new)
    print(f"The fit ended because {model.stopped_because_}. The first stumps and their votes:")
    for stump, vote in list(zip(model.estimators_, model.estimator_weights_, strict=True))[:4]:
        print(f"  {vote:6.3f}  {stump}")
    print("round  weighted error  training error  its bound  error on new rows")
    for number in (1, 2, 5, 20, 200):
        i = number - 1
        print(
            f"{number:5d} {model.estimator_errors_[i]:15.3f} {model.train_errors_[i]:15.3f} "
            f"{model.exponential_loss_[i]:10.3f} {model.validation_errors_[i]:18.3f}"
        )

    heaviest = np.argsort(-model.row_weights_)[: turned.sum()]
    print(
        f"Of the {turned.sum()} heaviest rows, {turned[heaviest].sum()} have a label that was turned round."
    )
    for algorithm in ("samme", "real", "gentle"):
        score = AdaBoostClassifier(algorithm=algorithm, n_estimators=200).fit(table, labels).score(*new)
        print(f"{algorithm:>7}: {score:.3f} of new rows are right")


if __name__ == "__main__":
    main()
