"""Links of README.md lead to files of the repository."""

import re

from tests.helpers.repository import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_link_of_the_page_leads_somewhere() -> None:
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", README)]
    own = [target for target in targets if "://" not in target]
    assert own
    assert [target for target in own if not (ROOT / target).exists()] == []
