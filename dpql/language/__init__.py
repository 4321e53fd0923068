"""Text to `Spec`: two readers, one check of shape, one of meaning, one formatter."""

from dpql.language.formatter import format_text
from dpql.language.print_spec import print_spec
from dpql.language.reading import form_of_text, load, load_mapping, load_text
from dpql.language.source import Form

__all__ = [
    "Form",
    "form_of_text",
    "format_text",
    "load",
    "load_mapping",
    "load_text",
    "print_spec",
]
