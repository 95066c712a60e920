"""One page about a committee: fitted to some rows, looked at with others, and written as a file that loads nothing."""

from pathlib import Path

import numpy as np

from coterie import CommitteeClassifier
from coterie.datasets import make_messy


def main() -> None:
    table, kind = make_messy(600, random_state=0)
    rows = np.random.default_rng(0).permutation(len(kind))
    known, new = ({name: column[some] for name, column in table.items()} for some in (rows[:400], rows[400:]))
    model = CommitteeClassifier(time_limit=None, max_members=3, cv=3, random_state=0)
    model.fit(known, kind[rows[:400]])

    found = model.report(new, kind[rows[400:]], title="Cheap, fair or dear?", seen=False)
    for ending in ("html", "txt", "json"):
        found.save(f"report.{ending}")

    print("\n".join(found.text().splitlines()[:14]))
    size = Path("report.html").stat().st_size
    print(f"\nreport.html has {size / 1e6:.2f} MB and {len(found.shown)} sections. Open it in a browser.")


if __name__ == "__main__":
    main()
