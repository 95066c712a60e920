"""A table as people write it: decimal commas, euros, days first, gaps with many names, and adverts in words.

The same rows are given to a committee as strings and as `coterie.read_table` reads them. New rows are read as those of
the fit.
"""

import warnings

import numpy as np

import coterie
from coterie import CommitteeRegressor

GOOD, BAD = ("bright", "quiet", "sunny", "new"), ("dark", "damp", "noisy", "old")
GAPS = ("-", "k.A.", "n/a")


def flats(n_rows: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Strings alone, and the rent."""
    rng = np.random.default_rng(seed)
    area = rng.uniform(20, 140, n_rows)
    good = rng.random(n_rows) < 0.5
    let = np.datetime64("2021-01-01") + rng.integers(0, 1000, n_rows).astype("m8[D]")
    rent = (
        300
        + 11 * area
        + 250 * good
        + 40 * (let.astype("M8[M]").astype(int) % 12 > 5)
        + rng.normal(0, 40, n_rows)
    )
    columns = {
        "area": [
            f"{own:.1f} ".replace(".", ",").strip() if n % 9 else GAPS[n % 3] for n, own in enumerate(area)
        ],
        "deposit": [
            f"{own:,.2f} €".translate(str.maketrans(",.", ".,"))
            for own in 3 * rent + rng.normal(0, 300, n_rows)
        ],
        "let": [own.item().strftime("%d.%m.%Y") for own in let],
        "advert": [
            f"a {rng.choice(GOOD if own else BAD)} and {rng.choice(GOOD if own else BAD)} flat, number {n}"
            for n, own in enumerate(good)
        ],
    }
    return {name: np.array(values, dtype=object) for name, values in columns.items()}, rent


def main() -> None:
    strings, rent = flats(400, seed=0)
    new, truth = flats(200, seed=1)
    members = {"time_limit": None, "portfolio": ["linear", "quick_boosting"], "random_state": 0}

    X = coterie.read_table(strings)
    print(X.reading)
    read = CommitteeRegressor(**members).fit(X, rent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which say that these columns are numbers
        raw = CommitteeRegressor(**members, features=None).fit(strings, rent)

    predicted = read.predict(coterie.read_table(new, reading=X.reading))
    errors = {"as read_table reads it": predicted - truth, "as strings": raw.predict(new) - truth}
    for name, error in errors.items():
        print(f"{name}: the rent is missed by {np.sqrt(np.mean(error**2)):.0f} euros")


if __name__ == "__main__":
    main()
