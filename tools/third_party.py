"""What coterie holds that others wrote, and the page about it: THIRD_PARTY_NOTICES.md, in the wheel and on the site.

Vega and its relatives are listed in src/coterie/report/vendor/vendored.json. nanobind, with the hash table of robin-map
inside, is compiled into the engine's Python module.

    python tools/third_party.py          writes the page
    python tools/third_party.py --check  ends with an error if it is not as it would be written
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VENDOR = ROOT / "src" / "coterie" / "report" / "vendor"
COMPILED = ROOT / "packaging" / "licenses"
PAGE = ROOT / "THIRD_PARTY_NOTICES.md"
BEGINNING = """# Third-party notices

Wheels of coterie hold software of others. All of it is under licences that allow this if their notices stay with it;
here they are. `tools/third_party.py` writes this page. Fonts are not among it: reports and plots use those of the
reader's machine. What pip installs beside coterie (numpy, scikit-learn and the like) brings its own notices.
"""


def components() -> list[dict[str, object]]:
    """Package, version, licence, where it is and its notices, of everything that is inside."""
    scripts = json.loads((VENDOR / "vendored.json").read_text(encoding="utf-8"))
    compiled = json.loads((COMPILED / "compiled.json").read_text(encoding="utf-8"))
    return [
        *({**each, "where": f"coterie/report/vendor/{each['file']}"} for each in scripts),
        *({**each, "where": "compiled into coterie/_engine"} for each in compiled),
    ]


def licence_files() -> list[str]:
    """Paths of the licence of coterie and of every notice, in the repository."""
    places = {
        file: VENDOR if (VENDOR / file).exists() else COMPILED
        for each in components()
        for file in notices(each)
    }
    paths = [(folder / file).relative_to(ROOT).as_posix() for file, folder in places.items()]
    return ["LICENSE", "THIRD_PARTY_NOTICES.md", *paths]


def notices(component: dict[str, object]) -> list[str]:
    found = component["licence_files"]
    assert isinstance(found, list)
    return found


def page() -> str:
    rows = ["| package | version | licence | where |", "|---|---|---|---|"]
    rows += [
        f"| {each['package']} | {each['version']} | {each['licence']} | `{each['where']}` |"
        for each in components()
    ]
    return "\n".join([BEGINNING, *rows, "", *map(_notice, licence_files()[2:])])


def _notice(file: str) -> str:
    text = (ROOT / file).read_text(encoding="utf-8").strip()
    return f"## {Path(file).name.removesuffix('.LICENSE.txt')}\n\n```text\n{text}\n```\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        raise SystemExit(
            "THIRD_PARTY_NOTICES.md is not as it would be written. Run: python tools/third_party.py"
        )
