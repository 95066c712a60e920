"""Every public name has its page with an example; every parameter its meaning, and every default a reason."""

import doctest
import inspect
from importlib import import_module
from typing import Any

import pytest
from docs.extensions import docstrings, reference_topics
from docs.extensions.docstrings import (
    Entry,
    defaults_of,
    parameter_entries,
    parameter_table,
    section_entries,
)
from docs.extensions.reference_examples import EXAMPLES, INTERFACES, example_of_mirror
from docs.extensions.reference_mirror import entries_of_mirror, is_mirror, unused_entries
from docs.extensions.reference_topics import every_public_name, found_at, has_example, makers_of, topics

import coterie
from tests.helpers.repository import ROOT

# Names of parameters that stand for a dict of others.
COLLECTED = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
OWN = [f"coterie.{name}" for name in coterie.__all__]
NAMES = list(every_public_name())


@pytest.fixture
def reference() -> Any:
    """The extension of Sphinx that writes the pages."""
    pytest.importorskip("sphinx")
    return import_module("docs.extensions.reference")


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


def unexplained(thing: Any, entries: list[Entry]) -> list[str]:
    """Parameters without a meaning, and defaults without a reason or with another value than that of the code."""
    explained = {name: entry for entry in entries for name in entry.names}
    attributes = {name for entry in section_entries(thing, "Attributes") for name in entry.names}
    kinds = {name: parameter.kind for name, parameter in inspect.signature(thing).parameters.items()}
    complaints = []
    for name, default in defaults_of(thing).items():
        entry = explained.get(name)
        if kinds[name] in COLLECTED or (
            entry is None and name in attributes
        ):  # what a function found, and made
            continue
        if entry is None or not (entry.type or entry.meaning):
            complaints.append(f"{name!r} is not explained")
        elif default is inspect.Parameter.empty:
            continue
        elif not entry.reason:
            complaints.append(f"no 'Default {default!r}: ...' in the text of {name!r}")
        elif entry.written_default and eval(entry.written_default) != default:
            complaints.append(f"the default of {name!r} is {default!r}, not {entry.written_default}")
    return complaints


@pytest.mark.parametrize("path", NAMES)
def test_every_parameter_is_explained_and_every_default_has_a_reason(path: str) -> None:
    thing = found_at(path)
    assert unexplained(thing, entries_of_mirror(thing) if is_mirror(path) else parameter_entries(thing)) == []


def test_what_is_not_explained_is_noticed() -> None:
    def function(first: int, second: int = 2, third: int = 3, fourth: int = 4) -> None: ...

    entries = [
        Entry(("second",), "int", ("Why not.",)),
        Entry(("third",), "int", ("Default 30: many.",)),
        Entry(("fourth",), "int", ("Default 4: enough.",)),
    ]
    assert unexplained(function, entries) == [
        "'first' is not explained",
        "no 'Default 2: ...' in the text of 'second'",
        "the default of 'third' is 3, not 30",
    ]


def test_words_about_parameters_of_scikit_learn_are_all_used() -> None:
    assert unused_entries([found_at(path) for path in NAMES if is_mirror(path)]) == set()


@pytest.mark.parametrize("path", OWN)
def test_what_the_package_offers_has_an_example_in_its_docstring(path: str) -> None:
    assert has_example(path)


@pytest.mark.parametrize("path", NAMES)
def test_every_page_has_an_example_or_leads_to_one(path: str, reference: Any) -> None:
    page = reference.page_of(path, topics()[0])
    assert has_example(path) or ">>> " in page or ("Returned by" in page and makers_of(path))


@pytest.mark.parametrize("path", [*EXAMPLES, *(name for name in NAMES if is_mirror(name))])
def test_examples_of_the_reference_are_true(path: str) -> None:
    text = EXAMPLES[path] if path in EXAMPLES else example_of_mirror(path)
    found_at(path)
    assert not has_example(path) or is_mirror(path), "the docstring has an example, so this one can go"
    example = doctest.DocTestParser().get_doctest(text, {}, path, None, 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_interfaces_have_an_example_too() -> None:
    assert set(INTERFACES) <= set(EXAMPLES)


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


def test_a_class_without_words_of_its_own_has_those_of_its_ancestor() -> None:
    assert parameter_entries(coterie.errors.InvalidInput) == parameter_entries(coterie.errors.CoterieError)
    assert parameter_entries(coterie.losses.Poisson) == []


def test_a_line_after_a_name_is_a_type_or_a_meaning_or_both() -> None:
    written = {
        "int": ("int", ""),
        "int, how many": ("int", "How many."),
        'bool, "auto" or None': ('bool, "auto" or None', ""),
        "array of shape (n, 2), one for each": ("array of shape (n, 2)", "One for each."),
        "rows and targets": ("", "Rows and targets."),
    }
    for kind, parts in written.items():
        entry = Entry(("name",), kind, ())
        assert (entry.type, entry.meaning) == parts


def test_pages_of_names_begin_with_the_line_that_imports_them(reference: Any) -> None:
    page = reference.page_of("coterie.prune", topics()[0])
    assert "from coterie import prune" in page
    assert ".. autofunction:: coterie.prune" in page
