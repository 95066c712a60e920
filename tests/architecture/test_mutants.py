"""`make mutants` changes what the code means, nothing that only people read, and sees who notices."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.helpers.repository import ROOT
from tools.mutants import Project, Runner, equivalents, report, run_all, sample
from tools.mutation_places import Place, changed, places


def mutants(source: str, path: str = "src/coterie/a/b.py") -> list[str]:
    """The source after each change that is possible."""
    text = dedent(source).encode()
    return [changed(text, place).decode() for place in places(path, text)]


@pytest.mark.parametrize(
    ("line", "mutated"),
    [
        ("x = a + b", ["x = a - b"]),
        ("x = a - b", ["x = a + b"]),
        ("x = a * b", ["x = a / b"]),
        ("x = a / b", ["x = a * b"]),
        ("x = a // b", ["x = a / b"]),
        ("x = a % b", ["x = a * b"]),
        ("x = a ** b", ["x = a * b"]),
        ("x //= b", ["x /= b"]),
        ("x = a < b", ["x = a <= b"]),
        ("x = a <= b < c", ["x = a < b < c", "x = a <= b <= c"]),
        ("x = a > b", ["x = a >= b"]),
        ("x = a >= b", ["x = a > b"]),
        ("x = a == b", ["x = a != b"]),
        ("x = a != b", ["x = a == b"]),
        ("x = a and b or c", ["x = a or b or c", "x = a and b and c"]),
        ("x = not a", ["x = a"]),
        ("x = -a", ["x = a"]),
        ("x = True", ["x = False"]),
        ("x = 0", ["x = 1"]),
        ("x = 1", ["x = 0"]),
        ("x = 41", ["x = 42"]),
        ("x = 0.5", ["x = 1.5"]),
        ("x = 1.0", ["x = 0.0"]),
        ("x = min(a, b)", ["x = max(a, b)"]),
        ("x = np.maximum(a, b)", ["x = np.minimum(a, b)"]),
    ],
)
def test_every_operator_and_constant_has_one_change(line: str, mutated: list[str]) -> None:
    assert mutants(line) == mutated


def test_statements_are_changed_too() -> None:
    assert mutants("while a:\n    break") == ["while a:\n    continue"]
    assert mutants("for a in b:\n    continue") == ["for a in b:\n    break"]
    assert mutants("if a:\n    raise E(1)") == ["if False:\n    raise E(1)"]
    assert mutants("def f() -> A:\n    return a") == ["def f() -> A:\n    return None"]


def test_the_rest_of_the_text_stays_as_it_is() -> None:
    source = 'x = ("ü",  # a + b\n     (a)   # - \n  +  (b))\n'
    assert mutants(source) == [source.replace("+  (b)", "-  (b)")]


@pytest.mark.parametrize(
    "source",
    [
        '"""1 + 1 is 2."""',
        "__all__ = ['a']",
        "from a import b",
        "def f(x: Literal[1] = a) -> Literal[2]: ...",
        "x: tuple[Literal[1], ...]",
        "def f() -> None:\n    return a",
        "def f() -> A:\n    return None",
        "raise ValueError(1 + 2)",
        "warnings.warn(a, stacklevel=2)",
        "x = f'{a + 1:.3f}'",
        "x = 'a' + b",
        "x = a / 'b'",
        "x = a + [b]",
        "if TYPE_CHECKING:\n    x = 1",
        "@dataclass(frozen=True)\nclass A:\n    pass",
        "x = zip(a, b, strict=True)",
        "_ROWS_AT_ONCE = 65_536",
        "x = a | b",
    ],
)
def test_what_only_people_or_machines_read_is_never_touched(source: str) -> None:
    assert mutants(source) == []


def test_numbers_of_layout_are_left_but_its_operators_are_not() -> None:
    assert mutants("x = a + 12", "src/coterie/plots/chart.py") == ["x = a - 12"]


def found_in(**files: int) -> list[Place]:
    """So many places in each file of a package, `a_b` being file b of package a."""
    return [
        place
        for name, n in files.items()
        for place in places(f"src/coterie/{name.replace('_', '/')}.py", b"x = 41\n" * n)
    ]


def test_a_package_has_its_share_of_the_sample() -> None:
    drawn = sample(found_in(a_x=30, a_y=30, b_x=20, c_x=20), 10, seed=0)
    assert [place.path.split("/")[2] for place in drawn] == ["a"] * 6 + ["b"] * 2 + ["c"] * 2
    assert len(sample(found_in(a_x=3, b_x=4), 200, seed=0)) == 7


def test_a_seed_draws_the_same_places_whatever_the_order_of_files() -> None:
    found = found_in(a_x=30, a_y=30, b_x=20)
    assert sample(found, 20, seed=1) == sample(found[::-1], 20, seed=1)
    assert sample(found, 20, seed=1) != sample(found, 20, seed=2)


def test_an_edit_elsewhere_draws_no_other_places() -> None:
    before = places("src/coterie/a/x.py", b"".join(b"x = %d\n" % n for n in range(100, 140)))
    after = places(
        "src/coterie/a/x.py", b"z = y\n" + b"".join(b"x = %d\n" % n for n in range(100, 140) if n != 120)
    )
    drawn, again = (
        {(place.before, place.after) for place in sample(found, 10, seed=0)} for found in (before, after)
    )
    assert len(drawn - again) <= 1


def test_a_larger_sample_holds_the_smaller_one() -> None:
    found = found_in(a_x=40, b_x=40)
    assert {*sample(found, 10, seed=0)} < {*sample(found, 20, seed=0)}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A package of three functions: the tests know one well, one a little, and one not at all."""
    root = tmp_path_factory.mktemp("tiny")
    files = {
        "src/tiny/__init__.py": "",
        "src/tiny/sums.py": """
            def double(x: int) -> int:
                return x * 2


            def never_tested(x: int) -> int:
                return x + x


            def hardly_tested(x: int) -> int:
                return max(x, 5)
        """,
        "tests/test_sums.py": """
            from tiny.sums import double, hardly_tested


            def test_two_is_doubled() -> None:
                assert double(3) == 6


            def test_it_runs() -> None:
                assert hardly_tested(5)
        """,
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["--import-mode=importlib"]\n',
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(text).lstrip(), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take longer than all else
        yield Project(root, "tiny", root / "build")


@pytest.fixture(scope="module")
def found(project: Project) -> dict[Place, dict[str, Any]]:
    return run_all(project, project.places(), jobs=1, budget=10)


def test_a_noticed_change_is_killed_and_another_survives(
    project: Project, found: dict[Place, dict[str, Any]]
) -> None:
    survived = {f"{place.old} -> {place.new}" for place, result in found.items() if not result["killed"]}
    assert survived == {
        "x + x -> None",  # never run
        "+ -> -",
        "max -> min",  # run, and not looked at
        "5 -> 6",
    }
    by = {place.old: result["by"] for place, result in found.items() if result["killed"]}
    assert by["*"] == "tests/test_sums.py::test_two_is_doubled"
    assert by["max(x, 5)"] == "tests/test_sums.py::test_it_runs"
    assert (project.root / "src/tiny/sums.py").read_text(encoding="utf-8").count("x * 2") == 1


def test_another_run_repeats_only_what_may_have_changed(
    project: Project, found: dict[Place, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[Place] = []
    ran = Runner._run
    monkeypatch.setattr(Runner, "_run", lambda *of: runs.append(of[1]) or ran(*of))
    assert run_all(project, list(found), jobs=1, budget=10) == found
    assert runs == []

    better = "from tiny.sums import hardly_tested, never_tested\n\n\n"
    better += "def test_more() -> None:\n    assert hardly_tested(1) + never_tested(2) == 9\n"
    (project.root / "tests" / "test_more.py").write_text(better, encoding="utf-8")
    after = run_all(project, list(found), jobs=1, budget=10)
    assert {place.old for place in runs} == {"x + x", "+", "max", "5"}
    assert all(result["killed"] for result in after.values())


def test_tests_that_take_too_long_are_ended(project: Project) -> None:
    assert project.copied(5).pytest([], timeout=0.01)[0] == -1


def test_the_table_leaves_out_what_is_known_to_mean_the_same(tmp_path: Path) -> None:
    same, survivor, killed = places("src/coterie/a/b.py", b"x = max(a, b)\ny = a + b\nz = not a\n")
    listed = tmp_path / "equivalent.txt"
    listed.write_text(
        "Words about the list.\n\nsrc/coterie/a/b.py\n- x = max(a, b)\n+ x = min(a, b)\na is b.\n",
        encoding="utf-8",
    )
    found = {place: {"killed": place is killed, "n_tests": 3} for place in (killed, survivor, same)}

    text = report(found, equivalents(listed))

    assert "src/coterie/a/b.py:2 (3 tests)\n- y = a + b\n+ y = a - b\n" in text
    assert "max(a, b)" not in text
    assert text.splitlines()[-1].split() == ["all", "1", "1", "1", "50", "%"]


def test_every_change_that_is_called_equivalent_can_still_be_made() -> None:
    project = Project(ROOT, "coterie", ROOT / "build" / "mutants")
    known = equivalents(ROOT / "tools" / "mutants_equivalent.txt")
    gone = known - {place.key for place in project.places()}
    assert not gone, "These are no changes of today's sources:\n\n" + "\n\n".join(sorted(gone))
