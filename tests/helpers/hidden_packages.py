"""Programs in a fresh interpreter that cannot import certain packages."""

import subprocess
import sys
from textwrap import dedent

HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hidden())
"""


def run_without(hidden: list[str], program: str) -> str:
    """The output of a program in a fresh interpreter that cannot import these packages."""
    code = HIDE.format(hidden=hidden) + dedent(program)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
