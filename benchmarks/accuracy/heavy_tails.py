"""Tables with heavy-tailed targets, groups of rows and missing values, for `study.py`.

    python benchmarks/accuracy/heavy_tails.py FOLDER
    python benchmarks/accuracy/study.py --data FOLDER --out results.json --variants recipe,lightgbm,xgboost,catboost

Six kinds of tables, each of 600, 1,200, 2,400 and 4,800 rows. In the first four, groups of about eight rows share an
effect that a column tells of, and every seventh value of three columns is missing:

- `lognormal`: the logarithm of the target has the signal and as much noise
- `pareto`: a signal times Pareto noise, whose variance is hardly finite
- `zeros`: half of the targets are zero, the others are lognormal
- `student`: a signal and noise of Student's t with 2.2 degrees of freedom

In the other two a few groups have most of the rows, as firms or people do who are seen again and again, and what a
group is worth follows from who it is alone:

- `panel`: columns that are the same in all rows of a group are all that tells groups apart
- `named_panel`: groups have names as well
"""

import pathlib
import sys
from typing import Any

import numpy as np
import pandas as pd

KINDS = ("lognormal", "pareto", "zeros", "student", "panel", "named_panel")
ROWS = (600, 1_200, 2_400, 4_800)


def noisy(kind: str, n_rows: int, random: np.random.Generator) -> tuple[pd.DataFrame, Any]:
    """A signal with noise of a kind."""
    n_groups = n_rows // 8
    group = random.integers(0, n_groups, n_rows)
    effect = random.normal(size=n_groups)
    values = random.normal(size=(n_rows, 6))
    values[:, 3] = np.exp(values[:, 3])
    values[:, 4] = random.integers(0, 5, n_rows)
    signal = 0.8 * values[:, 0] + 0.6 * np.abs(values[:, 1]) + 0.5 * values[:, 0] * (values[:, 4] > 2)
    signal += 0.3 * np.log(values[:, 3]) + 0.5 * effect[group]
    if kind == "lognormal":
        y = np.exp(signal + random.normal(size=n_rows))
    elif kind == "pareto":
        y = np.exp(0.6 * signal) * (1 + random.pareto(2.2, n_rows))
    elif kind == "zeros":
        is_zero = random.random(n_rows) > 1 / (1 + np.exp(0.5 - signal))
        y = np.where(is_zero, 0, np.exp(0.8 * signal + 0.7 * random.normal(size=n_rows)))
    else:
        y = 2 * signal + random.standard_t(2.2, n_rows)
    frame = pd.DataFrame(values, columns=[f"x{place}" for place in range(6)])
    frame["of_group"] = (random.normal(size=n_groups) + 0.7 * effect)[group]
    frame["town"] = [f"t{each // 4}" for each in group]
    for column in ("x0", "x3", "of_group"):
        frame.loc[random.random(n_rows) < 0.15, column] = np.nan
    return frame, y


def panel(n_rows: int, random: np.random.Generator, *, named: bool) -> tuple[pd.DataFrame, Any]:
    """Groups of very different sizes, each of which has a level of its own."""
    n_groups = n_rows // (25 if named else 10)
    size = random.pareto(1.5, n_groups) + 0.2
    group = random.choice(n_groups, n_rows, p=size / size.sum())
    level = 1.2 * random.standard_t(4, n_groups)
    of_group = random.normal(size=(n_groups, 3)).round(2)
    of_group[random.random((n_groups, 3)) < 0.15] = np.nan
    of_row = random.normal(size=(n_rows, 3))
    of_row[random.random((n_rows, 3)) < 0.1] = np.nan
    logarithm = level[group] + 0.3 * np.nan_to_num(of_group[group, 0]) + 0.4 * np.nan_to_num(of_row[:, 0])
    frame = pd.DataFrame(np.hstack([of_group[group], of_row]), columns=[f"x{place}" for place in range(6)])
    if named:
        frame["name"] = [f"n{each}" for each in group]
    return frame, np.exp(logarithm + 0.3 * random.normal(size=n_rows))


def write(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    known = []
    for place, kind in enumerate(KINDS):
        for n_rows in ROWS:
            random = np.random.default_rng((place, n_rows))
            if kind.endswith("panel"):
                frame, y = panel(n_rows, random, named=kind == "named_panel")
            else:
                frame, y = noisy(kind, n_rows, random)
            name = f"{kind}_{n_rows}"
            frame.assign(target=y).to_parquet(folder / f"{name}.parquet")
            known.append({"name": name, "task": "regression", "rows": n_rows})
    pd.DataFrame(known).to_csv(folder / "manifest.csv", index=False)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
