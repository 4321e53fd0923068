"""The functions of expressions: how many arguments each takes, and what it means.

Their names are words only before a parenthesis; a column may have the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpql.diagnostics import shown
from dpql.language.maps import mapped
from dpql.language.numbers import is_number
from dpql.language.predicate import (
    Argument,
    Listing,
    Mark,
    Named,
    Pairs,
    Piece,
    Use,
)
from dpql.language.suggestions import did_you_mean, quoted
from dpql.language.typed import Typed, Typer
from dpql.model.expression import (
    Bands,
    CalendarPart,
    Call,
    Constant,
    Expression,
    Function,
    PartOf,
)
from dpql.model.lattice_rules import constant
from dpql.model.limits import MOST_EDGES
from dpql.model.notation import number_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """How a function is used; ``form`` shows it."""

    form: str
    fewest: int
    most: int
    apply: Callable[[Typer, Use], Typed | None]


def applied(typer: Typer, use: Use) -> Typed | None:
    """Return what a function makes of its arguments, or note what is wrong."""
    word = use.word.text
    if word in _SIGNS:
        return _sign(typer, use)
    signature = FUNCTIONS.get(word)
    if signature is None:
        typer.add(
            "DPQL363",
            f"there is no function `{shown(word)}`",
            use.word,
            _INSTEAD.get(word.lower())
            or did_you_mean(word, FUNCTIONS)
            or f"there are {quoted(FUNCTIONS)}",
        )
        return None
    if not signature.fewest <= len(use.arguments) <= signature.most:
        typer.add(
            "DPQL363",
            f"`{word}` has {len(use.arguments)} arguments, which are "
            + ("too few" if len(use.arguments) < signature.fewest else "too many"),
            use,
            f"write `{signature.form}`",
        )
        return None
    return signature.apply(typer, use)


_SIGNS = {
    "+": Function.ADD,
    "-": Function.SUBTRACT,
    "*": Function.MULTIPLY,
    "//": Function.FLOOR_DIVIDE,
}


def _sign(typer: Typer, use: Use) -> Typed | None:
    found = _expressions(typer, use, use.arguments)
    if found is None:
        return None
    if len(found) == 1:
        zero = typer.made(Constant(value=Fraction(0)), [], use.word)
        assert zero is not None
        found = [zero, *found]
    return _call(typer, use, _SIGNS[use.word.text], found)


_CONSTANT = {
    Function.FLOOR_DIVIDE: 1,
    Function.ROUND: 1,
    Function.COALESCE: 1,
    Function.DIV: 2,
}
"""From which operand on those of a function are constants."""

_COMPUTED: dict[Function, Callable[[Fraction, Fraction], Fraction]] = {
    Function.ADD: lambda x, y: x + y,
    Function.SUBTRACT: lambda x, y: x - y,
    Function.MULTIPLY: lambda x, y: x * y,
}


def _constant(found: Typed) -> Typed:
    """Return the constant that sums and products of constants are, such as 24 * 60."""
    value = _value(found.expression)
    if value is None or not is_number(number_text(value)):
        return found
    return Typed(Constant(value=value), constant(value))


def _value(expression: Expression) -> Fraction | None:
    match expression:
        case Constant(value=Fraction() as value):
            return value
        case Call(function=function, operands=(left, right)) if function in _COMPUTED:
            values = _value(left), _value(right)
            if values[0] is not None and values[1] is not None:
                return _COMPUTED[function](values[0], values[1])
    return None


def _call(
    typer: Typer, use: Use, function: Function, operands: list[Typed]
) -> Typed | None:
    first = _CONSTANT.get(function, len(operands))
    operands = [*operands[:first], *map(_constant, operands[first:])]
    call = Call(function=function, operands=tuple(one.expression for one in operands))
    return typer.made(call, operands, use)


def _expressions(
    typer: Typer, use: Use, arguments: tuple[Argument, ...]
) -> list[Typed] | None:
    """Return arguments that are expressions, None if one is none or has a fault."""
    found: list[Typed] = []
    sound = True
    for argument in arguments:
        if isinstance(argument, Listing | Pairs | Named):
            _misplaced(typer, use, argument)
            sound = False
            continue
        typed = typer.typed(argument)
        sound = sound and typed is not None
        found += [] if typed is None else [typed]
    return found if sound else None


def _misplaced(typer: Typer, use: Use, argument: Argument) -> None:
    form = FUNCTIONS[use.word.text].form
    typer.add(
        "DPQL363",
        f"`{use.word.text}` does not take this",
        argument,
        f"write `{form}`",
    )


def _plain(function: Function) -> Callable[[Typer, Use], Typed | None]:
    """Return what applies a function to as many operands as it is given."""

    def apply(typer: Typer, use: Use) -> Typed | None:
        found = _expressions(typer, use, use.arguments)
        return None if found is None else _call(typer, use, function, found)

    return apply


def _folded(function: Function) -> Callable[[Typer, Use], Typed | None]:
    """Return what applies a function of two operands to several, one by one."""

    def apply(typer: Typer, use: Use) -> Typed | None:
        found = _expressions(typer, use, use.arguments)
        if found is None:
            return None
        result: Typed | None = found[0]
        for one in found[1:]:
            result = result and _call(typer, use, function, [result, one])
        return result

    return apply


def _round(typer: Typer, use: Use) -> Typed | None:
    found = _expressions(typer, use, use.arguments)
    if found is not None and len(found) == 1:
        one = typer.made(Constant(value=Fraction(1)), [], use.word)
        found += [] if one is None else [one]
    return None if found is None else _call(typer, use, Function.ROUND, found)


_QUOTIENT = ("lower", "upper", "step")


def _div(typer: Typer, use: Use) -> Typed | None:
    """Return a quotient, whose last three arguments may have names."""
    names = {one.name.text: one for one in use.arguments if isinstance(one, Named)}
    plain = tuple(one for one in use.arguments if not isinstance(one, Named))
    wanted = _QUOTIENT[len(plain) - 2 :] if len(plain) > 1 else ()
    if sorted(names) != sorted(wanted) or len(use.arguments) != len(FIVE):
        typer.add(
            "DPQL363",
            "a quotient needs bounds and a step: columns divided by columns have none",
            use,
            f"write `{FUNCTIONS['div'].form}`",
        )
        return None
    values = tuple(names[name].value for name in wanted)
    found = _expressions(typer, use, (*plain, *values))
    return None if found is None else _call(typer, use, Function.DIV, found)


FIVE = ("x", "y", *_QUOTIENT)


def _case(typer: Typer, use: Use) -> Typed | None:
    """Return `case(c1, x1, c2, x2, ..., otherwise)`, a choice within a choice."""
    if len(use.arguments) % 2 == 0:
        typer.add(
            "DPQL363",
            "the last argument of `case` is what holds otherwise, and there is none",
            use,
            f"write `{FUNCTIONS['case'].form}`",
        )
        return None
    found = _expressions(typer, use, use.arguments)
    if found is None:
        return None
    *pairs, result = found
    made: Typed | None = result
    while pairs and made is not None:
        condition, value = pairs[-2:]
        del pairs[-2:]
        made = _call(typer, use, Function.CASE, [condition, value, made])
    return made


def _is_null(typer: Typer, use: Use) -> Typed | None:
    (operand,) = use.arguments
    if isinstance(operand, Listing | Pairs | Named):
        _misplaced(typer, use, operand)
        return None
    return typer.missing(operand, use)


def _part(part: CalendarPart) -> Callable[[Typer, Use], Typed | None]:
    def apply(typer: Typer, use: Use) -> Typed | None:
        (operand,) = use.arguments
        if not isinstance(operand, Piece) or operand.mark not in (
            Mark.BARE,
            Mark.COLUMN,
        ):
            typer.add(
                "DPQL363",
                f"`{part.value}` is of a column of dates or times",
                operand,
                f"write `{part.value}(x)` with the name of one",
            )
            return None
        found = typer.column(operand)
        if found is None:
            return None
        return typer.made(PartOf(part=part, column=operand.text), [], use)

    return apply


def _bands(typer: Typer, use: Use) -> Typed | None:
    operand, listing = use.arguments
    if not isinstance(listing, Listing) or isinstance(operand, Listing | Pairs | Named):
        typer.add(
            "DPQL363",
            "bands are of a number, with their edges in brackets",
            use,
            f"write `{FUNCTIONS['bands'].form}`",
        )
        return None
    found = typer.typed(operand)
    edges = _edges(typer, listing)
    if found is None or edges is None:
        return None
    return typer.made(Bands(operand=found.expression, edges=edges), [found], use)


def _edges(typer: Typer, listing: Listing) -> tuple[Fraction, ...] | None:
    if not 2 <= len(listing.values) <= MOST_EDGES:  # noqa: PLR2004  both ends of one
        typer.add(
            "DPQL363",
            f"bands have from 2 to {MOST_EDGES} edges",
            listing,
            "write `[1, 500, 5_000]`",
        )
        return None
    found: list[Fraction] = []
    for piece in listing.values:
        edge = typer.number(piece)
        if edge is None:
            return None
        if found and edge <= found[-1]:
            typer.add(
                "DPQL363",
                f"the edge {number_text(edge)} is not above the one before it",
                piece,
                "list the edges from the smallest to the largest",
            )
            return None
        found.append(edge)
    return tuple(found)


def _exactly(
    form: str, apply: Callable[[Typer, Use], Typed | None]
) -> tuple[str, Signature]:
    count = form.count(",") + 1
    return form[: form.index("(")], Signature(
        form=form, fewest=count, most=count, apply=apply
    )


_MANY = 1 << 30

FUNCTIONS: Mapping[str, Signature] = {
    "min": Signature(
        form="min(x, y)", fewest=2, most=_MANY, apply=_folded(Function.MIN)
    ),
    "max": Signature(
        form="max(x, y)", fewest=2, most=_MANY, apply=_folded(Function.MAX)
    ),
    "abs": Signature(form="abs(x)", fewest=1, most=1, apply=_plain(Function.ABS)),
    "round": Signature(form="round(x, 0.1)", fewest=1, most=2, apply=_round),
    "div": Signature(
        form="div(x, y, lower: 0, upper: 10, step: 0.1)", fewest=1, most=5, apply=_div
    ),
    "case": Signature(form="case(x > 0, x, y)", fewest=3, most=_MANY, apply=_case),
    "coalesce": Signature(
        form="coalesce(x, 0)", fewest=2, most=2, apply=_plain(Function.COALESCE)
    ),
    "is_null": Signature(form="is_null(x)", fewest=1, most=1, apply=_is_null),
    "bands": Signature(
        form="bands(x, [1, 500, 5_000])", fewest=2, most=2, apply=_bands
    ),
    "map": Signature(
        form="map(x, {AA: big, UA: big}, else: small)",
        fewest=2,
        most=5,
        apply=mapped,
    ),
    **{
        part.value: Signature(
            form=f"{part.value}(x)", fewest=1, most=1, apply=_part(part)
        )
        for part in CalendarPart
    },
}
"""The functions, by name."""

_INSTEAD = {
    "floor": "write `x // 1`, which is rounded down",
    "ceil": "write `-(-x // 1)`",
    "ifnull": "write `coalesce(x, 0)`",
    "nvl": "write `coalesce(x, 0)`",
    "isnull": "write `is_null(x)`, or `x is null`",
    "if": "write `case(x > 0, x, y)`",
    "iif": "write `case(x > 0, x, y)`",
    "when": "write `case(x > 0, x, y)`",
    "greatest": "write `max(x, y)`",
    "least": "write `min(x, y)`",
    "mod": "write `x - (x // 7) * 7`",
    "cut": "write `bands(x, [1, 500, 5_000])`",
    "bucket": "write `bands(x, [1, 500, 5_000])`",
    "date_trunc": "write `month(x)`, or another part",
    "extract": "write `year(x)`, or another part",
    "dow": "write `weekday(x)`, from 1 for Monday",
    "dayofweek": "write `weekday(x)`, from 1 for Monday",
    "date": "write `day(x)`",
    "concat": "put the values of a `map` into words, or group by both columns",
}
"""Functions of other languages, and what does their work."""
