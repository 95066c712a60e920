"""Places of a Python source that can be changed so that it means something else, one token at a time.

Words
  place    a range of the text, what stands there and what could stand there instead
  header   the lines of a statement that run when it is reached: all lines of a simple statement, those
           above the body of a compound one

What only people or type checkers read is no place: docstrings, messages, annotations, `__all__`, decorators.
"""

import ast
import re
from dataclasses import dataclass

_ARITHMETIC: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
}
_COMPARISONS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
_EXTREMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
_SWAPPED: dict[float, float] = {0: 1, 1: 0}  # every other number becomes one more
# How something is done rather than what comes out: no test is meant to notice these.
_MANNERS = {"copy", "strict", "n_jobs", "verbose", "stacklevel", "max_workers", "timeout", "repr", "kw_only"}
_TUNING = re.compile("ONCE|BLOCK|SECONDS|THREADS|COPIES")
# Where numbers are pixels, colours and lengths of lines.
_LAYOUT = (
    "plots/",
    "report/html_page.py",
    "report/plain_text.py",
    "trees/drawing.py",
)


@dataclass(frozen=True)
class Place:
    """A change of one file: bytes `start` to `end` become `new`."""

    path: str
    start: int
    end: int
    old: str
    new: str
    line: int
    header: tuple[int, int]
    before: str
    after: str

    @property
    def key(self) -> str:
        """What the change is, whatever line it is in; two equal ones of a file differ by their lines' texts."""
        return f"{self.path}\n- {self.before}\n+ {self.after}"


def places(path: str, source: bytes) -> list[Place]:
    """Every place of a file, in the order of its text."""
    found = _Finder(path, source)
    found.visit(ast.parse(source))
    return sorted(found.places, key=lambda place: (place.start, place.end, place.new))


def changed(source: bytes, place: Place) -> bytes:
    """The file with one change."""
    return source[: place.start] + place.new.encode() + source[place.end :]


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source, self.places = path, source, list[Place]()
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.header = (1, 1)
        self.returns_value = False
        self.numbers = not any(f"coterie/{layout}" in path for layout in _LAYOUT)

    def visit(self, node: ast.AST) -> None:
        before = self.header
        if isinstance(node, ast.stmt):
            self.header = _header(node)
        super().visit(node)
        self.header = before

    # Statements

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self.returns_value
        self.returns_value = node.returns is not None and not _is_none(node.returns)
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self.returns_value = outer

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_Assign(self, node: ast.Assign) -> None:
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        if "__all__" not in names and not any(name.isupper() and _TUNING.search(name) for name in names):
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._between(node.target, node.value, _ARITHMETIC.get(type(node.op)))
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if isinstance(node.body[0], ast.Raise) and not isinstance(node.test, ast.Constant):
            self._add(*self._range(node.test), "False")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and self.returns_value and not _is_none(node.value):
            self._add(*self._range(node.value), "None")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """A message is for people."""

    def visit_Break(self, node: ast.Break) -> None:
        self._add(*self._range(node), "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(*self._range(node), "break")

    # Expressions

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """A text is for people."""

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in _MANNERS:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name, end = _last_name(node.func), self._range(node.func)[1]
        if name in ("warn", "cast", "TypeVar"):
            return
        if name in _EXTREMES and len(node.args) + len(node.keywords) > 0:
            self._add(end - len(name), end, _EXTREMES[name])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        # Texts and lists that are put together, and paths: any other operator is an error at once.
        if not any(_is_text_or_list(side) for side in (node.left, node.right)):
            self._between(node.left, node.right, _ARITHMETIC.get(type(node.op)))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, words)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, right, operator in zip(sides, sides[1:], node.ops, strict=False):
            self._between(left, right, _COMPARISONS.get(type(operator)))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        start = self._range(node)[0]
        if isinstance(node.op, ast.Not):
            self._add(start, start + (4 if self.source[start : start + 4] == b"not " else 3), "")
        elif isinstance(node.op, ast.USub):
            self._add(start, start + 1, "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(*self._range(node), str(not node.value))
        elif isinstance(node.value, int | float) and self.numbers:
            one_more = type(node.value)(_SWAPPED.get(node.value, node.value + 1))
            self._add(*self._range(node), repr(one_more))

    def _range(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        first, last = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
        return self.starts[first[0] - 1] + first[1], self.starts[last[0] - 1] + last[1]

    def _between(self, left: ast.expr, right: ast.expr, change: tuple[str, str] | None) -> None:
        """A change of the operator between two operands, with nothing but brackets and comments around it."""
        if change is None:
            return
        gap_start, gap_end = self._range(left)[1], self._range(right)[0]
        gap = re.sub(rb"#[^\n]*", lambda comment: b" " * len(comment[0]), self.source[gap_start:gap_end])
        start = gap_start + gap.index(change[0].encode())
        self._add(start, start + len(change[0]), change[1])

    def _add(self, start: int, end: int, new: str) -> None:
        line = self.source.count(b"\n", 0, start) + 1
        last = self.source.count(b"\n", 0, end) + 1
        text = self.source[self.starts[line - 1] : self.starts[last]]
        head, tail = self.source[self.starts[line - 1] : start], self.source[end : self.starts[last]]
        old = self.source[start:end].decode()
        before, after = _one_line(text), _one_line(head + new.encode() + tail)
        self.places.append(Place(self.path, start, end, old, new, line, self.header, before, after))


def _header(node: ast.stmt) -> tuple[int, int]:
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    last = node.end_lineno or node.lineno
    if isinstance(body, list):
        first = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else body[0].lineno
        last = max(node.lineno, first - 1)
    return node.lineno, last


def _last_name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_text_or_list(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text_or_list(node.left) or _is_text_or_list(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)


def _one_line(text: bytes) -> str:
    return " ".join(text.decode().split())
