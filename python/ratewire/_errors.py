"""Exceptions and warnings of the package.

``str()`` of an exception is the text that the command prints for the same mistake.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Diagnostic:
    """Something wrong with a scenario: where, what, and what is allowed.

    ``str()`` is the block of lines that the command prints.
    """

    severity: str
    """``error`` or ``warning``."""
    file: str
    """Name of the file, or ``set`` or ``law`` for a value that replaces the file's."""
    line: int | None
    """Line in the file, from 1; ``None`` if no line is meant."""
    column: int | None
    """Column in characters, from 1; ``None`` if no line is meant."""
    source: str
    """The line; empty if no line is meant."""
    message: str
    """What is wrong, in one sentence."""
    help: str | None
    """The allowed values, or the remedy."""
    nearest: str | None
    """The valid word nearest to the one found."""
    text: str
    """All of it, as the command prints it."""

    def __str__(self) -> str:
        return self.text


class Error(Exception):
    """Any error of the package."""


class ScenarioError(Error):
    """A scenario, or a value set in it, has errors. Nothing was run.

    ``diagnostics`` has all errors and warnings, in the order of the file. The other attributes
    are those of the first error.
    """

    def __init__(self, text: str, diagnostics: list[Diagnostic]) -> None:
        super().__init__(text, diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def _first(self) -> Diagnostic:
        errors = (one for one in self.diagnostics if one.severity == "error")
        return next(errors, self.diagnostics[0])

    @property
    def file(self) -> str:
        """Name of the file, or ``set`` or ``law`` for a value that replaces the file's."""
        return self._first.file

    @property
    def line(self) -> int | None:
        """Line in the file, from 1; ``None`` if no line is meant."""
        return self._first.line

    @property
    def column(self) -> int | None:
        """Column in characters, from 1; ``None`` if no line is meant."""
        return self._first.column

    @property
    def message(self) -> str:
        """What is wrong, in one sentence."""
        return self._first.message

    @property
    def help(self) -> str | None:
        """The allowed values, or the remedy."""
        return self._first.help

    @property
    def nearest(self) -> str | None:
        """The valid word nearest to the one found."""
        return self._first.nearest


class SettingError(Error, ValueError):
    """An argument does not fit the scenario, or names nothing. Nothing was run."""


class FileError(Error, OSError):
    """A file or folder cannot be read or written. Earlier results are unchanged."""


class RunError(Error):
    """Runs failed, or nothing could be run."""


class IncompleteError(RunError):
    """Some runs of several failed, or could not be written.

    ``results`` has the results of all others: :class:`Results` or :class:`SweepResults`.
    """

    def __init__(self, text: str, results: Any) -> None:
        from ratewire._results import of_native

        self.results: Any = of_native(results)
        super().__init__(text, self.results)

    def __str__(self) -> str:
        return str(self.args[0])


class ScenarioWarning(UserWarning):
    """A scenario can run, but probably does not do what was meant."""
