"""Write src/coterie/_engine.pyi: the types of the compiled module, as nanobind sees them.

Run it (`make stub`) after changing bindings/; a test compares the committed file with a fresh one.
"""

from pathlib import Path

from nanobind.stubgen import StubGen

import coterie._engine

STUB = Path(__file__).parents[1] / "src" / "coterie" / "_engine.pyi"
HEAD = "# Written by tools/make_stub.py from the compiled module: change bindings/, then run `make stub`.\n"


def fresh_stub() -> str:
    """The stub of the module that is installed now."""
    generator = StubGen(module=coterie._engine)
    generator.put(coterie._engine)
    return HEAD + generator.get().strip() + "\n"


if __name__ == "__main__":
    STUB.write_text(fresh_stub(), encoding="utf-8")
    print(f"Wrote {STUB.name}.")
