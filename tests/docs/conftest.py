"""Extensions of Sphinx find each other by their plain names, as they do when pages are built."""

import sys

from tests.helpers.repository import ROOT

sys.path.insert(0, str(ROOT / "docs/extensions"))
