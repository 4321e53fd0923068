"""Faults of a command line, in our own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import click

from dpql.cli.ui.exit_codes import CommandFault, UsageFault
from dpql.diagnostics import shown

_TOO_MANY = re.compile(r"unexpected extra arguments? \((.*)\)", re.DOTALL)
_QUOTED = re.compile(r"'(.*)'", re.DOTALL)
_UNKNOWN = re.compile(r"No such command '(.*)'", re.DOTALL)


def fault_of(error: click.ClickException, words: Sequence[str]) -> CommandFault:
    """Return the fault that a complaint of the argument parser amounts to."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else _path(words)
    more = f"`{shown(path, limit=200)} --help` shows how"
    match error:
        case click.NoSuchOption():
            return _unknown_option(error, more)
        case click.MissingParameter():
            return _missing(error, more)
        case click.BadParameter():
            return _bad_value(error, words, more)
        case click.BadOptionUsage():
            return _bare(error, more)
        case _:
            return _other(error, context, more)


def unknown_command(name: str, known: Iterable[str], path: str) -> UsageFault:
    """Return the fault of an unknown command."""
    hint = _meant(name, known) or f"`{path} --help` lists them"
    return UsageFault.of(
        "DPQL810", f"there is no command `{path} {shown(name)}`", hint=hint
    )


def _path(words: Sequence[str]) -> str:
    """Return the command that was probably called, where the parser does not say."""
    from dpql.cli.main import COMMANDS

    return f"dpql {words[0]}" if words and words[0] in COMMANDS else "dpql"


def _unknown_option(error: click.NoSuchOption, more: str) -> UsageFault:
    close = error.possibilities
    hint = f"did you mean `{close[0]}`?" if close else more
    name = shown(error.option_name)
    if name.lstrip("-") in _WHAT_IF and more.startswith("`dpql plan "):
        hint = f"try it: `--set {name.lstrip('-')}=…`; to keep it, change the spec"
    return UsageFault.of("DPQL811", f"there is no option `{name}` here", hint=hint)


_WHAT_IF = ("epsilon", "alpha", "mechanism")
"""What `dpql plan --set` can try."""


def _missing(error: click.MissingParameter, more: str) -> UsageFault:
    param = error.param
    if isinstance(param, click.Option):
        hint = f"give `{param.opts[-1]} {_placeholder(param)}`"
        if param.help:
            hint += f": {_lowered(param.help)}"
        return UsageFault.of("DPQL812", f"`{param.opts[-1]}` is missing", hint=hint)
    usage = _context(error).get_usage().removeprefix("Usage: ")
    hint = f"write `{' '.join(usage.split())}`" if param else more
    name = param.human_readable_name.rstrip(".") if param else "an argument"
    return UsageFault.of("DPQL812", f"`{name}` is missing", hint=hint)


def _placeholder(param: click.Option) -> str:
    if isinstance(param.type, click.Choice):
        return "|".join(map(str, param.type.choices))
    return param.metavar or param.type.name.upper()


def _bad_value(
    error: click.BadParameter, words: Sequence[str], more: str
) -> CommandFault:
    param = error.param
    if param is not None and isinstance(param.type, click.Path):
        return _closed(error)
    if param is None:
        return UsageFault.of("DPQL813", _lowered(error.message), hint=more)
    option = isinstance(param, click.Option)
    name = param.opts[-1] if option else param.human_readable_name
    given = _given(param.opts, words) if option else None
    hint = _wanted(param.type) or _lowered(error.message)
    if given is None:
        message = f"the value of `{name}` does not fit"
    else:
        message = f"`{shown(given)}` does not fit `{name}`"
        hint = _meant(given, getattr(param.type, "choices", ())) or hint
    return UsageFault.of("DPQL813", message, hint=hint)


def _closed(error: click.BadParameter) -> CommandFault:
    """Return the fault of a path that the parser has tried and could not use."""
    named = _QUOTED.search(error.message)
    path = f" `{shown(named[1], limit=400)}`" if named else " a path"
    return CommandFault.of(
        "DPQL803",
        f"cannot read{path}: permission denied",
        hint="ask its owner, or name another file",
    )


def _given(names: Sequence[str], words: Sequence[str]) -> str | None:
    """Return what follows an option, if it is given once."""
    values = [after for word, after in pairwise(words) if word in names]
    values += [
        value
        for word in words
        for name, equals, value in (word.partition("="),)
        if equals and name in names
    ]
    return values[0] if len(values) == 1 else None


def _wanted(kind: click.ParamType[Any]) -> str | None:
    """Return what a type takes; None for our own, whose complaint says it."""
    match kind:
        case click.Choice(choices=choices):
            *others, last = map(str, choices)
            return f"write {', '.join(others)} or {last}" if others else f"write {last}"
        case click.IntRange(min=low, max=high):
            return f"write a whole number from {low} to {high}"
        case click.DateTime():
            return "write a day of the calendar, such as 2027-06-01"
        case _:
            return "write a whole number" if kind is click.INT else None


def _bare(error: click.BadOptionUsage, more: str) -> UsageFault:
    taken = "takes no value" if "not take" in error.message else "needs a value"
    name = shown(error.option_name)
    return UsageFault.of("DPQL813", f"`{name}` {taken}", hint=more)


def _other(
    error: click.ClickException, context: click.Context | None, more: str
) -> UsageFault:
    unknown = _UNKNOWN.search(error.message)
    if unknown and context and isinstance(context.command, click.Group):
        known = context.command.list_commands(context)
        return unknown_command(unknown[1], known, context.command_path)
    extra = _TOO_MANY.search(error.message)
    if extra:
        words = f"`{shown(extra[1])}` is too much"
        return UsageFault.of("DPQL814", words, hint=more)
    return UsageFault.of("DPQL814", _lowered(error.message), hint=more)


def _meant(name: str, known: Iterable[str]) -> str | None:
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=1)
    return f"did you mean `{close[0]}`?" if close else None


def _context(error: click.UsageError) -> click.Context:
    return error.ctx or click.get_current_context()


def _lowered(text: str) -> str:
    text = text.rstrip(".")
    return text[:1].lower() + text[1:]
