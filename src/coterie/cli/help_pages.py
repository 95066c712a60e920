"""What `--help` shows: options under headings, and examples of each command."""

from typing import Any

from typer.core import TyperCommand

EXAMPLES: dict[str, tuple[str, ...]] = {
    "fit": (
        "coterie fit houses.csv --target price",
        "coterie fit houses.csv -t price --time-limit 300 --scoring mae -o houses.coterie --report houses.html",
        "coterie fit visits.csv -t sick --groups patient --drop id,name --threshold f1",
        "coterie fit 'sales/*.parquet' -t sold --memory 8GB",
    ),
    "predict": (
        "coterie predict houses.coterie new.csv -o predictions.csv",
        "coterie predict houses.coterie new.csv --id house --interval 0.9",
        "coterie predict houses.coterie - --json-lines",
    ),
    "evaluate": (
        "coterie evaluate houses.coterie new.csv",
        "coterie evaluate houses.coterie new.csv --fail-under r2=0.8 --fail-over rmse=40 --json",
    ),
    "compare": (
        "coterie compare houses.csv --target price",
        "coterie compare houses.csv -t price --models dummy,linear,forest --scoring mae --committee 30",
    ),
    "report": (
        "coterie report houses.coterie new.csv -o report.html",
        "coterie report houses.coterie new.csv --new --title 'Houses in May'",
    ),
    "inspect": ("coterie inspect houses.coterie", "coterie inspect houses.coterie --json"),
    "export": (
        "coterie export forest.coterie --to onnx -o forest.onnx",
        "coterie export houses.coterie --to onnx -o houses.onnx --distil houses.csv",
    ),
    "doctor": ("coterie doctor", "coterie doctor --json"),
}
_OTHERS = "Options"


class GroupedCommand(TyperCommand):
    """A command whose options are listed under the headings of their groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        arguments: list[tuple[str, str]] = []
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            if param.param_type_name == "argument":
                arguments.append(record)
            else:
                groups.setdefault(getattr(param, "rich_help_panel", None) or _OTHERS, []).append(record)
        others = groups.pop(_OTHERS, [])
        for heading, records in [("Arguments", arguments), *groups.items(), (_OTHERS, others)]:
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The examples, a line each, as they are typed."""
        examples = EXAMPLES.get(self.name or "", ())
        if examples:
            with formatter.section("Examples"):
                for line in examples:
                    formatter.write(f"  {line}\n")
