"""Documents as TOML text, in the order in which they were made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from ratewire._errors import SettingError


def text(document: Mapping[str, Any]) -> str:
    """A document as the text of a scenario's file.

    Raises :class:`SettingError` for a value that TOML does not have.
    """
    own = {key: value for key, value in document.items() if not _is_section(value)}
    parts = ["".join(_lines(own))]
    for key, value in document.items():
        if isinstance(value, Mapping):
            parts.append(f"[{_key(key)}]\n" + "".join(_lines(value)))
        elif _is_section(value):
            parts.extend(f"[[{_key(key)}]]\n" + "".join(_lines(one)) for one in value)
    return "\n".join(part for part in parts if part)


def value(of: Any) -> str:
    """One value as TOML: tables and lists on one line."""
    match of:
        case bool():
            return "true" if of else "false"
        # Numbers of numpy count among these.
        case Integral():
            return str(int(of))
        case Real():
            return repr(float(of))
        case str():
            # Escapes of JSON are escapes of TOML.
            return json.dumps(of, ensure_ascii=False).replace("\x7f", "\\u007f")
        case Mapping():
            pairs = ", ".join(f"{_key(key)} = {value(one)}" for key, one in of.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case Sequence():
            return f"[{', '.join(value(one) for one in of)}]"
        case _:
            kind = type(of).__name__
            known = "text, a number, a truth value, a list or a dictionary"
            raise SettingError(f"{of!r} is of the type {kind}, which no key takes; give {known}")


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{_key(key)} = {value(one)}\n" for key, one in table.items())


def _is_section(of: Any) -> bool:
    """Whether a value has a heading of its own at the top of a document."""
    is_list = isinstance(of, Sequence) and not isinstance(of, str) and len(of) > 0
    return isinstance(of, Mapping) or (is_list and all(isinstance(one, Mapping) for one in of))


def _key(key: str) -> str:
    is_bare = key.isascii() and key.replace("_", "a").replace("-", "a").isalnum()
    return key if is_bare else value(key)
