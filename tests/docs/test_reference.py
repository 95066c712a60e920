"""Every public name has its page with an example; every parameter of what `coterie` offers a default and a reason."""

import doctest
import inspect
from importlib import import_module
from typing import Any

import pytest
from docs.extensions import docstrings, reference_topics
from docs.extensions.docstrings import Entry, defaults_of, parameter_table, section_entries
from docs.extensions.reference_examples import EXAMPLES, INTERFACES
from docs.extensions.reference_topics import every_public_name, found_at, has_example, makers_of, topics

import coterie
from tests.helpers.repository import ROOT

# Names of parameters that stand for a dict of others.
COLLECTED = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
OWN = [f"coterie.{name}" for name in coterie.__all__]


@pytest.mark.parametrize("module", [docstrings, reference_topics], ids=["docstrings", "topics"])
def test_the_examples_of_the_modules_are_true(module: Any) -> None:
    assert doctest.testmod(module).failed == 0


def test_every_public_name_stands_in_one_topic() -> None:
    listed = [name for topic in topics() for name in topic.names]
    assert sorted(listed) == sorted(set(listed))
    assert set(listed) == set(every_public_name())
    assert set(OWN) <= set(listed)


@pytest.mark.parametrize("topic", topics(), ids=lambda topic: topic.key)
def test_the_guide_of_a_topic_exists(topic: reference_topics.Topic) -> None:
    assert (ROOT / "docs" / f"{topic.guide}.md").exists()


@pytest.mark.parametrize("path", OWN)
def test_every_parameter_is_explained_and_every_default_has_a_reason(path: str) -> None:
    thing = found_at(path)
    entries = {name: entry for entry in section_entries(thing, "Parameters") for name in entry.names}
    signature = inspect.signature(thing).parameters
    for name, default in defaults_of(thing).items():
        if signature[name].kind in COLLECTED:
            continue
        assert name in entries, f"{path} does not explain {name!r}"
        if default is not inspect.Parameter.empty:
            assert entries[name].reason, f"{path}: no 'Default {default!r}: ...' in the text of {name!r}"


@pytest.mark.parametrize("path", OWN)
def test_a_default_in_words_is_that_of_the_code(path: str) -> None:
    defaults = defaults_of(found_at(path))
    for entry in section_entries(found_at(path), "Parameters"):
        for name in entry.names:
            if entry.written_default and name in defaults:
                assert eval(entry.written_default) == defaults[name], f"{path}: {name}"


@pytest.mark.parametrize("path", OWN)
def test_what_the_package_offers_has_an_example_in_its_docstring(path: str) -> None:
    assert has_example(path)


@pytest.mark.parametrize(
    "path", [name for name in every_public_name() if not name.startswith("coterie.ensemble.")]
)
def test_every_page_has_an_example_or_says_where_one_is(path: str) -> None:
    assert has_example(path) or path in EXAMPLES or path in INTERFACES or makers_of(path)


@pytest.mark.parametrize("path", EXAMPLES)
def test_examples_of_the_reference_are_true(path: str) -> None:
    found_at(path)
    assert not has_example(path), "the docstring has an example, so this one can go"
    example = doctest.DocTestParser().get_doctest(EXAMPLES[path], {}, path, None, 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_a_row_of_the_table_has_type_rules_default_and_reason() -> None:
    class Model:
        def __init__(self, size: int = 3) -> None: ...

    entry = Entry(("size",), "int", ("How large. Default 3: as usual.",))
    text = "\n".join(parameter_table(Model, [entry]))
    assert "``size``" in text
    assert "*int*" in text
    assert "- How large.\n" in text
    assert "- ``3``\n" in text
    assert "As usual." in text


def test_pages_of_names_begin_with_the_line_that_imports_them(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(ROOT / "docs/extensions"))
    page = import_module("docs.extensions.reference").page_of("coterie.prune", topics()[0])
    assert "from coterie import prune" in page
    assert ".. autofunction:: coterie.prune" in page
