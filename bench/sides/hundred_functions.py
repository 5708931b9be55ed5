"""A hundred functions such as people offer as tools: type hints, and a docstring in Google's form."""

from collections.abc import Callable
from typing import Any, Literal, Optional

FUNCTIONS = 100
FIRST_TIME, AGAIN = "100 functions as OpenAI tools, first time", "100 functions as OpenAI tools, again"

_SHAPES = (
    (("city", "str"), ("days", "int = 3")),
    (("path", "str"), ("pattern", "str"), ("flags", "Optional[list[str]] = None")),
    (("x", "float"), ("y", "float"), ("unit", 'Literal["m", "km", "mile"] = "km"'), ("exact", "bool = False")),
    (
        ("table", "str"),
        ("columns", "list[str]"),
        ("where", "dict[str, str]"),
        ("limit", "int = 10"),
        ("skip", "int = 0"),
    ),
)


def hundred_functions() -> list[Callable[..., Any]]:
    """New ones each time, so that nothing can be known of them."""
    space: dict[str, Any] = {"Literal": Literal, "Optional": Optional}
    exec("\n".join(map(_source, range(FUNCTIONS))), space)
    return [space[f"tool_{number}"] for number in range(FUNCTIONS)]


def _source(number: int) -> str:
    shape = _SHAPES[number % len(_SHAPES)]
    signature = ", ".join(f"{name}: {hint}" for name, hint in shape)
    described = "\n".join(f"        {name}: What is known of {name}, in a few words." for name, _ in shape)
    return (
        f"def tool_{number}({signature}) -> str:\n"
        f'    """Does task number {number}, and says how it went.\n\n    Args:\n{described}\n    """\n'
        "    return ''\n"
    )
