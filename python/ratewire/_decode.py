"""JSON of the native module as dataclasses."""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def decoded(kind: type[T], content: object) -> T:
    """Content of JSON as ``kind``: dataclasses leave out keys that they do not have."""
    made: T = _value(kind, content)
    return made


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _value(kind: Any, content: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if content is None:
        return None
    if origin in (types.UnionType, typing.Union):
        return _value(arguments[0], content)
    if origin is list:
        return [_value(arguments[0], one) for one in content]
    if origin is tuple:
        return tuple(_value(one, part) for one, part in zip(arguments, content, strict=True))
    if origin is dict:
        return {key: _value(arguments[1], one) for key, one in content.items()}
    if is_dataclass(kind):
        return _made(kind, content)
    return float(content) if kind is float else content


def _made(kind: Any, content: dict[str, Any]) -> Any:
    hints = _hints(kind)
    # Keys that are words of Python end in an underscore: `from_`.
    names = {field.name: field.name.rstrip("_") for field in fields(kind)}
    known = {name: key for name, key in names.items() if key in content}
    return kind(**{name: _value(hints[name], content[key]) for name, key in known.items()})
