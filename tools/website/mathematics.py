"""Formulas as MathML, which browsers draw without a script: ```math blocks, and $`x`$ in a line."""

import re

from latex2mathml.converter import convert

_BLOCK = re.compile(r"^```math\n(.*?)^```", flags=re.M | re.S)
_INLINE = re.compile(r"\$`([^`]+)`\$")


def with_formulas(markdown: str) -> str:
    r"""A page whose formulas in the notation of TeX are MathML.

    >>> with_formulas("$`x^2`$")[:5]
    '<math'
    """
    markdown = _BLOCK.sub(lambda found: convert(found[1].strip(), display="block") + "\n", markdown)
    return _INLINE.sub(lambda found: convert(found[1].strip()), markdown)
