"""A long fit in a process that is killed, and the same call again: it goes on, and the model is the same."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from coterie import Checkpoint, GradientBoostingRegressor
from coterie.datasets import load_table


def fit(folder: Path | None, n_rounds: int = 120) -> GradientBoostingRegressor:
    table, progression = load_table("diabetes")
    checkpoint = None if folder is None else Checkpoint(folder, every=20)
    model = GradientBoostingRegressor(
        n_estimators=n_rounds, subsample=0.5, random_state=0, checkpoint=checkpoint
    )
    return model.fit(table, progression, resume=folder is not None)


def main() -> None:
    folder = Path(tempfile.mkdtemp()) / "run"
    process = subprocess.Popen([sys.executable, __file__, str(folder)])
    while process.poll() is None and len(list(folder.glob("*.part"))) < 3:
        time.sleep(0.01)
    process.kill()
    process.wait()
    print(f"killed; {len(list(folder.glob('*.part')))} parts of 20 rounds are kept")

    resumed, whole = fit(folder), fit(None)
    table, _ = load_table("diabetes")
    same = (resumed.predict(table) == whole.predict(table)).all()
    print(f"resumed, and ended with {resumed.n_estimators_} rounds")
    print(f"every prediction is that of a fit that was not killed: {same}")


if __name__ == "__main__":
    fit(Path(sys.argv[1])) if len(sys.argv) > 1 else main()
