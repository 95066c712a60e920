"""`coterie inspect`: what is in a model file, without loading its trees."""

from collections.abc import Sequence
from dataclasses import asdict
from json import loads as parse
from typing import Any

from coterie.cli.command import Messages, command
from coterie.cli.errors import MODEL_FILE, check_exists
from coterie.cli.models import with_advice
from coterie.cli.options import JsonOption, ModelArgument
from coterie.cli.writing import as_json, print_out
from coterie.files import FileSummary, inspect_file


@command
def inspect(messages: Messages, model: ModelArgument, json: JsonOption = False) -> None:
    """Show what a model file holds: class, target, columns, classes, members, trees. --json has everything."""
    check_exists(str(model), MODEL_FILE)
    with with_advice():
        summary = inspect_file(model)
    if json:
        print_out(as_json(asdict(summary)))
    else:
        messages.result(_text(summary))


def _text(summary: FileSummary) -> str:
    """What is of interest to people; `--json` has everything."""
    roles, reading = _held(summary.notes, "roles"), _held(summary.notes, "reading")
    target = summary.notes.get("target")
    n_members = summary.members.get("committee.MemberRecord", 0)
    features = summary.feature_names
    lines = [
        f"{summary.model}, {summary.n_bytes / 1e6:.1f} MB, written by coterie {summary.coterie_version}",
        *([f"target: {target} ({summary.notes.get('task', 'of an unknown kind')})"] if target else []),
        *([f"classes: {_listed(summary.classes)}"] if summary.classes is not None else []),
    ]
    if features is not None:
        kinds = {name: own.get("kind") for name, own in reading.items() if isinstance(own, dict)}
        shown = [f"{name} ({kinds[name]})" if kinds.get(name) else str(name) for name in features]
        lines.append(f"columns: {len(features)}: {_listed(shown)}")
    elif summary.n_features is not None:
        lines.append(f"columns: {summary.n_features}, without names")
    lines += [f"{_ROLES[name]}: {_said(value)}" for name, value in roles.items() if name in _ROLES and value]
    if n_members:
        lines.append(f"members: {n_members}")
    if summary.n_trees:
        lines.append(f"trees: {summary.n_trees:,}")
    if summary.foreign:
        lines.append(f"models of other libraries: {', '.join(summary.foreign)}")
    known = {"roles", "reading", "target", "task", "kinds", "profile"}
    lines += [f"{name}: {text}" for name, text in summary.notes.items() if name not in known]
    return "\n".join(lines)


_ROLES = {
    "groups": "rows were kept together by",
    "time": "rows were ordered by",
    "weight": "rows were weighted by",
    "drop": "columns left out",
    "where": "rows were read where",
}
_MOST_LISTED = 12


def _held(notes: dict[str, str], name: str) -> dict[str, Any]:
    """A note that is a JSON object; empty if it is none."""
    try:
        held = parse(notes.get(name, "{}"))
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}


def _said(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(str(name) for name in names[:_MOST_LISTED])
    more = len(names) - _MOST_LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown
