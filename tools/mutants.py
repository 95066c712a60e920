"""Change a sample of places in `src`, one at a time, and say which changes no test notices.

    python tools/mutants.py                                  200 places of all packages
    python tools/mutants.py --only src/coterie/data --n 30   30 places of one folder
    python tools/mutants.py --list                           the sample alone

Steps
  1. Copy the repository to build/mutants/tree-0 and run its tests there once, to know which test runs which
     line, and for how long. Later runs measure only the test files that have changed.
  2. Draw the sample: every package in proportion to its places.
  3. For each place: write the changed file into a copy, run the tests that reach the line, stop at the first
     that fails. A mutant that no test notices has survived.
What was found is kept in build/mutants/results.json, so that a run goes on where it was interrupted.
docs/develop/mutants.md says how to read the table.
"""

import argparse
import contextlib
import hashlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import coverage

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.mutation_places import Place, changed, places  # noqa: E402 (a script finds its neighbours only now)

_NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "build", "dist", ".*_cache", ".hypothesis")
_STARTUP_SECONDS = 60.0  # to import everything on a machine that does other things as well


@dataclass(frozen=True)
class Project:
    """A repository with one package in src, and where what is found about it is kept."""

    root: Path
    package: str
    work: Path

    def places(self, only: Sequence[str] = ()) -> list[Place]:
        """The places of all sources, or of those under some paths."""
        wanted = [(self.root / path).resolve() for path in only]
        return [
            place
            for file in sorted((self.root / "src" / self.package).rglob("*.py"))
            if not wanted or any(file.is_relative_to(path) for path in wanted)
            for place in places(file.relative_to(self.root).as_posix(), file.read_bytes())
        ]

    def test_files(self) -> list[str]:
        """Tests, and everything that holds examples which pytest runs."""
        examples = [*self.root.glob("src/**/*.py"), *self.root.glob("docs/**/*.md"), self.root / "README.md"]
        with_examples = [file for file in examples if file.exists() and b">>> " in file.read_bytes()]
        tests = [*self.root.glob("tests/**/test_*.py"), *with_examples]
        names = (file.relative_to(self.root).as_posix() for file in tests)
        return sorted(names, key=lambda name: (_is_source(name), name))

    def digest(self, files: Iterable[str]) -> str:
        """A hash of names and contents."""
        found = hashlib.sha256()
        for file in files:
            found.update(file.encode() + b"\0" + (self.root / file).read_bytes())
        return found.hexdigest()

    def shared_digest(self) -> str:
        """A hash of all that more than one test depends on: the sources, and what tests share."""
        files = [file for top in ("src", "tests") for file in self.root.glob(f"{top}/**/*.py")]
        names = {
            file.relative_to(self.root).as_posix() for file in files if not file.name.startswith("test_")
        }
        return self.digest(sorted(names))

    def copied(self, number: int) -> "Project":
        """A copy with the text of now, which nobody changes while tests run, and with what Python has compiled."""
        tree = self.work / f"tree-{number}"
        shutil.rmtree(tree, ignore_errors=True)
        return replace(self, root=shutil.copytree(self.root, tree, ignore=_NOT_COPIED))

    def pytest(self, arguments: Sequence[str], timeout: float | None = None, **more: str) -> tuple[int, str]:
        """Run tests: the exit code, or -1 if they took too long, and what was printed."""
        hook = self.work / "hook"
        hook.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(__file__).with_name("mutants_hook.py"), hook / "sitecustomize.py")
        others = ("MUTANTS_", "PYTEST_")  # of a run around this one
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        ours = {"PYTHONPATH": str(hook), "MUTANTS_TREE": str(self.root), "MUTANTS_PACKAGE": self.package}
        with open(self.root / "printed.txt", "w", encoding="utf-8") as printed:
            run = subprocess.Popen(
                [sys.executable, "-m", "pytest", "-q", "-psitecustomize", "-pno:cacheprovider", *arguments],
                cwd=self.root,
                env={**inherited, "OMP_WAIT_POLICY": "passive", **ours, **more},
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        _running.add(run.pid)
        try:
            code = run.wait(timeout)
        except subprocess.TimeoutExpired:
            code = -1
        finally:  # what tests have started ends with them
            _end(run.pid)
            run.wait()
        return code, (self.root / "printed.txt").read_text(encoding="utf-8", errors="replace")


_running: set[int] = set()


def _end(group: int) -> None:
    """End a process and all that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    _running.discard(group)


# Step 1: which test runs which line


@dataclass(frozen=True)
class Reach:
    """Which tests run which lines of a project, and how many seconds each test takes."""

    project: Project
    lines: coverage.CoverageData
    seconds: dict[str, float]

    def tests(self, place: Place, budget: float) -> list[str]:
        """The tests that could notice a change, as many as fit into a budget of seconds, and one at least.

        Those of the folder that mirrors the source come first, then the fastest; examples in sources come last.
        A line that runs on import is reached by every test that runs any line of its file.
        """
        by_line = self.lines.contexts_by_lineno(str(self.project.root / place.path))
        first, last = place.header
        reached = {test for line in range(first, last + 1) for test in by_line.get(line, [])}
        if "" in reached:
            reached.update(*by_line.values())
        by_file = defaultdict[str, list[str]](list)
        for test in sorted(reached & self.seconds.keys(), key=lambda test: (self.seconds[test], test)):
            by_file[_file_of(test)].append(test)
        cost = {file: sum(map(self.seconds.__getitem__, tests)) for file, tests in by_file.items()}
        kept, spent = list[str](), 0.0
        for file in sorted(
            by_file, key=lambda file: (_is_source(file), not _mirrors(file, place.path), cost[file])
        ):
            for test in by_file[file]:
                if not kept or spent + self.seconds[test] <= budget:
                    kept.append(test)
                    spent += self.seconds[test]
        return kept


def _is_source(test_file: str) -> bool:
    """Whether it is a source with examples.

    Collecting one imports it as if it stood alone, and puts the module in the place of a function of the same
    name in its package; tests that are collected later would find the module.
    """
    return test_file.startswith("src/")


def _mirrors(test_file: str, path: str) -> bool:
    """Whether a file of tests belongs to a source: in the folder of the same name, or its own examples."""
    return test_file == path or Path(test_file).parts[1:2] == Path(path).parts[2:-1][:1] != ()


def reach(project: Project, jobs: int) -> Reach:
    """What the tests of today's text run; only test files that are not in the cache are measured."""
    cache, lines = project.work / "tests.json", project.work / "lines"
    known = json.loads(cache.read_text(encoding="utf-8")) if cache.exists() else {}
    if known.get("shared") != project.shared_digest():
        known = {"shared": project.shared_digest(), "files": {}, "tests": {}}
        lines.unlink(missing_ok=True)
    files = {file: project.digest([file]) for file in project.test_files()}
    stale = [file for file, digest in files.items() if known["files"].get(file) != digest]
    if stale:
        print(f"Measuring which lines the tests of {len(stale)} files run ...", flush=True)
        current = files.keys() - set(stale)
        kept = {test: outcome for test, outcome in known["tests"].items() if _file_of(test) in current}
        known |= {"files": files, "tests": kept | _measure(project, stale, lines, jobs)}
        cache.write_text(json.dumps(known), encoding="utf-8")
    data = coverage.CoverageData(basename=str(lines))
    data.read()
    return Reach(
        project, data, {test: seconds for test, (seconds, passed) in known["tests"].items() if passed}
    )


def _measure(project: Project, files: list[str], lines: Path, jobs: int) -> dict[str, Any]:
    """Run files of tests and add the lines that they run to those known: [seconds, passed] of each test."""
    several = [f"-n{jobs}", "--dist=loadfile"] if jobs > 1 else []
    for part in lines.parent.glob(f"{lines.name}.*"):  # of a run that was interrupted
        part.unlink()
    code, printed = project.pytest([*several, *files], MUTANTS_DATA=str(lines))
    if code not in (0, 1):
        raise SystemExit(f"{printed}\nThe tests of the unchanged sources do not run.")
    outcomes: dict[str, Any] = json.loads(Path(f"{lines}.json").read_text(encoding="utf-8"))
    Path(f"{lines}.json").unlink()
    found = coverage.Coverage(data_file=str(lines), config_file=False, messages=False)
    if lines.exists():
        found.load()
    found.combine([str(part) for part in lines.parent.glob(f"{lines.name}.*")])
    found.save()
    return outcomes


def _file_of(test: str) -> str:
    return test.partition("::")[0]


# Step 2: the sample


def sample(found: Sequence[Place], n: int, seed: int) -> list[Place]:
    """So many places, every package in proportion to its own; a larger sample holds the smaller one's.

    Places are drawn by a hash of the change and of nothing around it, so an edit elsewhere draws no others.
    """
    packages = defaultdict[str, list[Place]](list)
    for place in sorted(found, key=lambda place: (place.path, place.start, place.end)):
        packages["/".join(Path(place.path).parts[2:-1][:1])].append(place)
    exact = {name: n * len(inside) / len(found) for name, inside in packages.items()}
    shares = {name: int(share) for name, share in exact.items()}
    left = min(n, len(found)) - sum(shares.values())
    for name in sorted(exact, key=lambda name: (shares[name] - exact[name], name))[:left]:
        shares[name] += 1
    drawn = []
    for name, inside in sorted(packages.items()):
        drawn += _by_hash(inside, seed)[: shares[name]]
    return drawn


def _by_hash(found: Sequence[Place], seed: int) -> list[Place]:
    """Places in an order that follows from the seed and from each change: its file, its line before and after."""
    seen = Counter[str]()
    keys = {}
    for place in found:
        change = f"{seed}\0{place.path}\0{place.before}\0{place.after}"
        keys[place] = hashlib.sha256(f"{change}\0{seen[change]}".encode()).digest()
        seen[change] += 1
    return sorted(found, key=lambda place: keys[place])


# Step 3: the mutants


@dataclass(frozen=True)
class Runner:
    """Runs mutants, each in a copy that no other uses at the time."""

    project: Project
    reach: Reach
    budget: float
    copies: queue.SimpleQueue[Project]

    def result(self, place: Place, known: dict[str, Any]) -> dict[str, Any]:
        """What became of a mutant: from an earlier run, if neither its file nor its tests are others now."""
        tests = self.reach.tests(place, self.budget)
        state = {
            "source": self.project.digest([place.path]),
            "tests": self.project.digest(sorted({*map(_file_of, tests)})),
        }
        if known.get("source") == state["source"] and (known["killed"] or known["tests"] == state["tests"]):
            return known
        return {**state, "n_tests": len(tests), **(self._run(place, tests) if tests else {"killed": False})}

    def _run(self, place: Place, tests: list[str]) -> dict[str, Any]:
        copy = self.copies.get()
        file, original = copy.root / place.path, self.project.root / place.path
        limit = _STARTUP_SECONDS + 3 * sum(map(self.reach.seconds.__getitem__, tests))
        try:
            file.write_bytes(changed(original.read_bytes(), place))
            (copy.root / "tests.txt").write_text("\n".join(tests), encoding="utf-8")
            code, printed = copy.pytest(["-x", "@tests.txt"], limit, PYTHONDONTWRITEBYTECODE="1")
        finally:
            shutil.copy2(original, file)
            self.copies.put(copy)
        noticed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", printed, re.MULTILINE)
        return {
            "killed": code != 0,
            "by": noticed[0] if noticed else "time" if code == -1 else f"exit code {code}",
        }


def run_all(
    project: Project, drawn: Sequence[Place], *, jobs: int, budget: float
) -> dict[Place, dict[str, Any]]:
    """The results of all mutants, each written down as soon as it is known."""
    store = project.work / "results.json"
    project.work.mkdir(parents=True, exist_ok=True)
    results = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    copies: queue.SimpleQueue[Project] = queue.SimpleQueue()
    unchanged = project.copied(0)
    runner = Runner(unchanged, reach(unchanged, jobs), budget, copies)
    for number in range(jobs):
        copies.put(unchanged.copied(number + 1))
    found: dict[Place, dict[str, Any]] = {}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(runner.result, place, results.get(_name(place), {})): place for place in drawn}
        try:
            for done in as_completed(waiting):
                place = waiting[done]
                found[place] = results[_name(place)] = done.result()
                store.with_suffix(".new").write_text(json.dumps(results, indent=1), encoding="utf-8")
                store.with_suffix(".new").replace(store)
                print("." if found[place]["killed"] else "S", end="", flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for group in list(_running):
                _end(group)
            raise
    print()
    return found


def _name(place: Place) -> str:
    return f"{place.path}:{place.start}:{place.old}:{place.new}"


# The table


def equivalents(file: Path) -> set[str]:
    """The changes that no test can notice: blocks of a path, `- ` before, `+ ` after, and why."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", text) if "\n- " in block]
    return {"\n".join(block[:3]) for block in blocks}


def report(found: dict[Place, dict[str, Any]], equivalent: set[str]) -> str:
    """A table of packages, then every survivor that is not known to mean the same."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    lines = []
    for place, result in sorted(found.items(), key=lambda pair: (pair[0].path, pair[0].start)):
        same = not result["killed"] and place.key in equivalent
        column = 0 if result["killed"] else 1 if same else 2
        for name in ("/".join(Path(place.path).parts[2:-1][:1]) or "(root)", "all"):
            counts[name][column] += 1
        if not result["killed"] and not same:
            tests = f"{result['n_tests']} tests"
            lines += [f"{place.path}:{place.line} ({tests})", f"- {place.before}", f"+ {place.after}", ""]
    table = [f"{'package':14}{'killed':>8}{'equivalent':>12}{'survived':>10}{'share killed':>14}"]
    for name in sorted(counts, key=lambda name: (name == "all", name)):
        killed, alike, survived = counts[name]
        share = f"{100 * killed / (killed + survived):.0f} %" if killed + survived else ""
        table.append(f"{name:14}{killed:8}{alike:12}{survived:10}{share:>14}")
    return "\n".join([*lines, *table])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Which changes of the sources does no test notice?")
    parser.add_argument("--n", type=int, default=200, help="how many places are changed")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", nargs="+", default=[], metavar="PATH", help="files or folders to change")
    parser.add_argument("--list", action="store_true", help="show the sample, run nothing")
    parser.add_argument("--jobs", type=int, default=2, help="mutants that run at a time")
    parser.add_argument("--budget", type=float, default=120.0, help="seconds of tests for a mutant")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    project = Project(ROOT, "coterie", ROOT / "build" / "mutants")
    drawn = sample(project.places(options.only), options.n, options.seed)
    if options.list:
        print("\n".join(f"{place.path}:{place.line}\n- {place.before}\n+ {place.after}\n" for place in drawn))
        return
    found = run_all(project, drawn, jobs=options.jobs, budget=options.budget)
    print(report(found, equivalents(Path(__file__).with_name("mutants_equivalent.txt"))))


if __name__ == "__main__":
    main()
