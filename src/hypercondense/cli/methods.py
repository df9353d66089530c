"""``hypercondense methods``: what there is, and a recipe with a line on every field."""

from typing import Annotated

import typer

from hypercondense.cli import options, output


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A method, or a recipe in a .json file.")
    ] = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """List the methods, or show every field of one; --json prints what `--method FILE.json` reads."""
    from hypercondense.catalogue import METHODS, RECIPE_VERSION, make_method
    from hypercondense.condensing.describe import field_lines
    from hypercondense.condensing.recipe import Recipe
    from hypercondense.typed import Value, content_of

    if name is None:
        rows = [{"method": method, "what it is": what} for method, (what, _) in METHODS.items()]
        if json:
            output.print_json(rows)
        else:
            output.print_table(rows, title="`hypercondense methods NAME` shows the fields of one")
        return
    method = make_method(name)
    if json:
        version = {"recipe_version": RECIPE_VERSION} if isinstance(method, Recipe) else {}
        output.print_json({**version, **content_of(method)})
        return
    assert isinstance(method, Value)
    shown = [
        {"field": line.path, "value": line.value, "meaning": line.meaning} for line in field_lines(method)
    ]
    if shown:
        output.print_table(shown, title=f"{name}: change a field by --set FIELD=VALUE")
    else:
        output.note(f"{name} has nothing to set")
