"""Classes say what they and their attributes are, and functions what they do."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap

import pytest

import ratewire
from conftest import ROOT

CLASSES = [one for name in ratewire.__all__ if isinstance(one := getattr(ratewire, name), type)]
FUNCTIONS = [name for name in ratewire.__all__ if inspect.isroutine(getattr(ratewire, name))]


def documented_fields(cls: type) -> dict[str, bool]:
    """Annotated attributes in a class's source, and whether each has a text or a comment."""
    lines = textwrap.dedent(inspect.getsource(cls)).splitlines()
    body = ast.parse("\n".join(lines)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for at, one in enumerate(body.body):
        if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
            continue
        after = body.body[at + 1] if at + 1 < len(body.body) else None
        has_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        has_comment = lines[one.lineno - 2].strip().startswith("#:")
        found[one.target.id] = has_text or has_comment
    return found


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_classes_and_their_attributes_are_documented(cls: type) -> None:
    assert cls.__doc__, cls
    fields: dict[str, bool] = {}
    if not isinstance(vars(ratewire._ratewire).get(cls.__name__), type):
        fields = documented_fields(cls)
        bare = [name for name, told in fields.items() if not told and name[0] != "_"]
        assert not bare, f"{cls.__name__} does not document {bare}"
    for name, value in vars(cls).items():
        if name.startswith("_") or name in fields:
            continue
        if callable(value) or inspect.isdatadescriptor(value) or isinstance(value, classmethod):
            assert inspect.getdoc(value), f"{cls.__name__}.{name}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_documented_and_on_a_page(name: str) -> None:
    assert inspect.getdoc(getattr(ratewire, name)), f"ratewire.{name} has no documentation"
    pages = ["python/README.md", "docs/how-to/use-python.md"]
    text = "".join((ROOT / page).read_text() for page in pages)
    named = re.search(rf"\bratewire\.{name}\b", text)
    assert named, f"none of {pages} names ratewire.{name}"


def test_what_callbacks_get_has_units_and_absent_values() -> None:
    from ratewire import Ack, Congestion, Flow, Interval, Link, Sending

    for cls in (Ack, Congestion, Flow, Interval, Link, Sending):
        names = [name for name in vars(cls) if not name.startswith("_")]
        assert names
        assert all(vars(cls)[name].__doc__ for name in names), cls
    told = str(vars(Ack)["rtt"].__doc__)
    assert "seconds" in told
    assert "None" in told


def test_bare_values_of_a_law_are_described() -> None:
    told = str(ratewire.Law.__doc__)
    for name in ("goes_by_pace", "goes_by_losses", "equal_shares", "any_speed", "header_length"):
        assert f"``{name}``" in told
