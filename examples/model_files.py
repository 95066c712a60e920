"""A model goes to a file and comes back: the same answers, and no code in between."""

import tempfile
from pathlib import Path

import numpy as np

import coterie
from coterie.datasets import make_messy


def main() -> None:
    table, target = make_messy(2000, random_state=0)
    model = coterie.GradientBoostingClassifier(n_estimators=40, random_state=0).fit(table, target)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.coterie"
        coterie.save(model, path)
        print(coterie.inspect_file(path))

        again = coterie.load(path)
        same = np.array_equal(again.predict_proba(table), model.predict_proba(table))
        print(f"the same answers, bit for bit: {same}")

        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        path.write_bytes(damaged)
        try:
            coterie.load(path)
        except coterie.errors.ModelFileError as error:
            print(f"one bit flipped: {str(error).removeprefix(str(path) + ': ')}")


if __name__ == "__main__":
    main()
