"""`coterie export`: a model in the format of another runtime."""

from pathlib import Path
from typing import Annotated, Any

import typer

from coterie.cli.command import Messages, command
from coterie.cli.errors import usage_error
from coterie.cli.models import LoadedModel, open_model
from coterie.cli.options import JsonOption, ModelArgument, WhereOption, opened_table
from coterie.cli.writing import as_json, check_place, placed, print_out
from coterie.export import to_onnx, to_treelite


@command
def export(
    messages: Messages,
    model: ModelArgument,
    to: Annotated[str, typer.Option("--to", help="onnx or treelite.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    distil: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="For a committee: first fit one model of trees to its predictions for DATA."
        ),
    ] = None,
    where: WhereOption = None,
    json: JsonOption = False,
) -> None:
    """Write a model of trees as ONNX or treelite. A committee is distilled to one such model first."""
    if to not in ("onnx", "treelite"):
        raise usage_error(f"--to {to}: expected onnx or treelite.", "--to", to, allowed="onnx or treelite")
    check_place(output, "--output")
    own = open_model(model)
    with messages.progress("exporting"):
        trees = _model_of_trees(messages, own, distil, where, model)
        made = to_onnx(trees) if to == "onnx" else to_treelite(trees)
    with placed(output) as part:
        if to == "onnx":
            part.write_bytes(made.SerializeToString())
        else:
            made.serialize(part)
    n_bytes = output.stat().st_size
    if json:
        print_out(as_json({"file": output, "format": to, "bytes": n_bytes, "model": type(trees).__name__}))
    messages.note(f"{output} holds a {type(trees).__name__} for {to}, {n_bytes / 1e6:.1f} MB.")
    rule = getattr(own.model, "decision_", None)
    if rule is not None:
        messages.note(
            "It gives probabilities, and its labels are the most probable classes. Decide as the committee does by: "
            f"{rule.describe(own.model.classes_)}"
        )


def _model_of_trees(
    messages: Messages, own: LoadedModel, distil: str | None, where: str | None, path: Path
) -> Any:
    is_committee = hasattr(own.model, "distil")
    if distil is None:
        if is_committee:
            raise usage_error(
                f"{path} holds a {type(own.model).__name__}, which is no sum of trees.",
                "--distil",
                hint="Distil it to one model first, with a table that has its columns: --distil DATA",
            )
        return own.model
    if not is_committee:
        raise usage_error(
            f"--distil is for committees; the {type(own.model).__name__} in {path} needs none.",
            "--distil",
            distil,
        )
    with opened_table(messages, [distil], where, None) as table:
        X = own.features(table, set() if own.target is None else {own.target})
    return own.model.distil(X)
