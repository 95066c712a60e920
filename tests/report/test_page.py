"""The page loads nothing, holds nothing that a name could break, and stays small."""

import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

import coterie
from coterie import report
from coterie.plots.chart import Axis, Chart, Line
from coterie.report.forms import html_page
from coterie.report.forms.html_page import vendored
from tests.helpers.reports import report_of

NASTY = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"quotes\" & 'more'",
    "Größe \u2028 名前 {{ 7 * 7 }} {% raw %}",
    "<!--",
    "\\u003c | ` * _ #",
]


class Elements(HTMLParser):
    """What a browser would see: elements with their attributes, and the text of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag == "script"
        if self._inside:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data


def elements_of(page: str) -> Elements:
    found = Elements()
    found.feed(page)
    return found


@pytest.fixture(scope="module")
def nasty() -> Any:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {name: rng.normal(size=120) for name in NASTY[:4]}
    columns |= {NASTY[4]: rng.choice(np.array(NASTY, dtype=object), 120), NASTY[5]: np.ones(120)}
    y = np.where(columns[NASTY[0]] + (columns[NASTY[4]] == NASTY[0]) > 0, NASTY[0], NASTY[1])
    model = coterie.RandomForestClassifier(10, random_state=0).fit(columns, y)
    return report.build(model, columns, y, title=NASTY[1])


def test_names_classes_and_titles_are_text_and_nothing_else(nasty: Any) -> None:
    plain, page = report_of("two").html(), nasty.html()

    scripts = [attributes for tag, attributes in elements_of(page).found if tag == "script"]

    assert len([own for own in scripts if "type" not in own]) == 4  # ours and the vendored three
    assert len(scripts) == len([own for tag, own in elements_of(plain).found if tag == "script"])
    assert not [own for tag, own in elements_of(page).found if tag == "img" or "onerror" in own]
    assert "<script>alert" not in page.lower()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7 * 7 }}" in page  # no template sees what a name holds


def test_the_data_of_charts_survives_names(nasty: Any) -> None:
    page = nasty.html()
    data = [own for own in elements_of(page).scripts if own.startswith('{"config"')]

    assert len(data) == 1
    assert not set("<>&\u2028\u2029") & set(data[0])
    assert NASTY[0] in json.dumps(json.loads(data[0]), ensure_ascii=False)


def test_markdown_and_text_keep_names_on_one_line(nasty: Any) -> None:
    assert "<script" not in nasty.markdown().split("```python")[0]
    assert "\u2028" not in nasty.text().split("Reproducibility")[0]


def test_nothing_is_loaded() -> None:
    page = report_of("two").html()
    elements = elements_of(page)

    assert not [
        (tag, own) for tag, own in elements.found if {"src", "srcset", "data", "action", "poster"} & set(own)
    ]
    links = [own["href"] for _, own in elements.found if own.get("href")]
    assert links
    assert all(str(link).startswith("#") for link in links)
    assert "sourceMappingURL" not in page
    assert "@import" not in page
    assert not re.search(r"url\(\s*[\"']?(?!data:|#|\")\w+:", page.split("</style>")[0])


def test_the_policy_allows_the_scripts_of_the_page_and_no_connection() -> None:
    elements = elements_of(report_of("two").html())
    policy = next(
        own["content"] for _, own in elements.found if own.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None

    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "script-src 'unsafe-inline'" not in policy
    assert "unsafe-eval" not in policy
    assert len(re.findall(r"'sha256-[\w+/=]{44}'", policy)) == 4


@pytest.mark.parametrize("name", ["two", "three", "numbers", "boosting", "forest"])
def test_a_page_is_small(name: str) -> None:
    assert len(report_of(name).html().encode()) < 1_200_000


def test_a_thousand_columns_stay_below_two_megabytes() -> None:
    rng = np.random.default_rng(0)
    X = {f"column number {place}": rng.normal(size=80) for place in range(1_000)}
    y = X["column number 7"] + rng.normal(scale=0.1, size=80)
    model = coterie.RandomForestRegressor(10, random_state=0).fit(X, y)

    found = report.build(model, X, y)

    assert len(found.html().encode()) < 1_200_000
    assert "… and 950 more" in found.html()
    assert "970 columns that seem less important were not measured" in " ".join(found.text().split())
    importance = next(own for own in found.to_dict()["sections"] if own["key"] == "feature_importance")
    assert importance["blocks"][-1]["rows"][0][0] == "column number 7"


def test_vendored_scripts_are_as_published() -> None:
    folder = files("coterie.report") / "vendor"
    listed = json.loads((folder / "vendored.json").read_text(encoding="utf-8"))

    assert [own["file"] for own in listed] == ["vega.min.js", "vega-interpreter.min.js", "vega-lite.min.js"]
    for own in listed:
        content = (folder / own["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == own["sha256"], own["file"]
        assert all((folder / name).read_text(encoding="utf-8").strip() for name in own["licence_files"])
        assert (
            own["version"] in vendored(own["file"]) or own["package"] == "vega-interpreter"
        )  # which says none


def test_two_names_have_a_legend_and_one_has_none() -> None:
    lines = tuple(Line(name, np.arange(2.0), np.arange(2.0)) for name in ("a", "b"))
    axes = Axis("x", 0.0, 1.0), Axis("y", 0.0, 1.0)

    assert html_page._legend(Chart("t", *axes, lines)) == {"title": None, "orient": "top", "columns": 2}
    assert html_page._legend(Chart("t", *axes, lines[:1])) is None
