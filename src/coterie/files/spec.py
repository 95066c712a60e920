"""How the objects of one class go into a file, and what has to hold for those that come out of one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Never

from coterie.errors import ModelFileError
from coterie.files.kinds import Kind

__all__ = ["Spec", "expect", "wrong"]


def _nothing_more(_: Any) -> None:
    """Attributes of the right kinds are all that is asked."""


@dataclass(frozen=True)
class Spec:
    """A class that files may hold.

    Attributes
    ----------
    name : what files call it; never changes, wherever the class goes
    cls : the class
    state : the attributes that may be there, and what each may be
    optional : those that need not be there; None means all of them
    dropped : attributes that are found again when they are needed, and not stored
    has_params : whether it is an estimator, whose parameters are stored beside its state
    verify : raises ModelFileError if attributes do not fit together
    parts : the attributes of an object; by default those it has
    plain_parts : the same for files that are to be mapped, where arrays are what the engine has in its memory
    build : an object from its attributes; by default they are set, and nothing of the class is run
    """

    name: str
    cls: type
    state: Mapping[str, Kind]
    optional: frozenset[str] | None = frozenset()
    dropped: frozenset[str] = frozenset()
    has_params: bool = False
    verify: Callable[[Any], None] = _nothing_more
    parts: Callable[[Any], dict[str, Any]] | None = None
    plain_parts: Callable[[Any], dict[str, Any]] | None = None
    build: Callable[[dict[str, Any]], Any] | None = None
    param_names: frozenset[str] = field(default=frozenset())

    def parts_of(self, held: Any, compact: bool = True) -> dict[str, Any]:
        """The attributes to store."""
        take = self.parts if compact or self.plain_parts is None else self.plain_parts
        parts = dict(vars(held)) if take is None else take(held)
        return {name: value for name, value in parts.items() if name not in self.dropped}

    def made(self, parts: dict[str, Any]) -> Any:
        """An object with these attributes, which were found to be on the list and of the right kinds."""
        if self.build is not None:
            return self.build(parts)
        made: Any = object.__new__(self.cls)
        vars(made).update(parts)
        return made

    def check(self, parts: Mapping[str, Any]) -> None:
        """Refuse attributes that are unknown, missing, or not what they may be."""
        for name, value in parts.items():
            if name not in self.state:
                wrong(f"has an attribute {name!r}, which is not one of a {self.name}")
            kind = self.state[name]
            if not kind.accepts(value):
                wrong(f"has {name} = {_shown(value)}; expected {kind.says}")
        if self.optional is not None:
            missing = set(self.state) - self.optional - set(parts)
            if missing:
                wrong(f"has no {min(missing)!r}")


def _shown(value: Any) -> str:
    text = f"{type(value).__name__}" if hasattr(value, "__dict__") else f"{value!r:.60}"
    return text if len(text) < 60 else text + "..."


def wrong(message: str) -> Never:
    """Refuse the object that is being made; the reader adds where it stands."""
    raise ModelFileError(f"{message}.")


def expect(holds: Any, message: str) -> None:
    if not holds:
        wrong(message)
