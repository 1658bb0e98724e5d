"""What runs are asked for: laws, seeds, the measured part and figures."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ratewire import _ratewire
from ratewire._errors import SettingError
from ratewire._law import LawLike, loadable, parted

#: Laws by their names, or classes of one's own: one, several, or the command's text.
Laws: TypeAlias = LawLike | Iterable[LawLike]
#: Seeds: one, several, or the command's text.
Seeds: TypeAlias = int | str | Iterable[int]
#: Figures by name: the command's text, or several.
FigureNames: TypeAlias = str | Iterable[str]

_MOST_SEEDS = 2**64


@dataclass(frozen=True)
class Asked:
    """What the native module and workers of a sweep take."""

    laws: list[str] | None
    """Names of laws, or paths of their files; ``None`` for the scenario's own."""
    seeds: list[int] | None
    """Seeds; ``None`` for the scenario's own."""
    during: str | None
    """The part of each run that figures are about."""
    figures: list[str]
    """Lists of figures by name."""


def asked(
    law: Laws | None,
    seed: Seeds | None,
    during: str | None = None,
    figures: FigureNames | None = None,
) -> tuple[Asked, list[LawLike]]:
    """What is asked for, and the laws that a scenario has to know for it."""
    names, own = _laws(law)
    if not isinstance(during, str | None):
        raise SettingError(f'during is {during!r}: write text, such as during="5s..30s"')
    listed = [figures] if isinstance(figures, str) else list(figures or [])
    return Asked(names, _seeds(seed), during, listed), own


def renamed(new: str, value: Any, old: str, former: Any, how: str = "") -> Any:
    """The value of an argument that may have its former name, in the caller's caller."""
    if former is None:
        return value
    if value is not None:
        raise SettingError(f"{new} and {old} are given: leave out {old}, the former name")
    told = f"{old}= is deprecated: write {new}={how}"
    warnings.warn(told, DeprecationWarning, stacklevel=3)
    return former


def several(law: Laws | None) -> list[LawLike]:
    """One law, several, or the command's text, as a list."""
    if isinstance(law, str):
        return [name.strip() for name in law.split(",")]
    return [law] if isinstance(law, type) else list(law or [])


def following(first: int, count: object) -> list[int]:
    """A number of seeds, from the first on."""
    try:
        number = operator.index(count)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise SettingError(
            f"seeds is {count!r}: it is the number of seeds, 1 at least\n"
            '  help: write seed=, which takes the seeds themselves, such as seed="1..5"'
        )
    return [(first + offset) % _MOST_SEEDS for offset in range(number)]


def _laws(law: Laws | None) -> tuple[list[str] | None, list[LawLike]]:
    """Names of laws, and the classes and files among them; ``None`` for the scenario's own."""
    if law is None:
        return None, []
    named = several(law)
    if not named:
        raise SettingError("law is empty: name one at least, or leave it out")
    return parted(named)[0], loadable(named)


def _seeds(seed: Seeds | None) -> list[int] | None:
    """Seeds as a list; ``None`` stands for the scenario's own."""
    if seed is None:
        return None
    if isinstance(seed, str):
        return _ratewire.seeds(seed)
    seeds = list(seed) if isinstance(seed, Iterable) else [seed]
    if not seeds:
        raise SettingError("seed is empty: give one at least, or leave it out")
    return [_seed(one) for one in seeds]


def _seed(seed: object) -> int:
    try:
        number = operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not 0 <= number < _MOST_SEEDS:
        raise SettingError(f"a seed cannot be {seed!r}: allowed are whole numbers from 0 to 2^64-1")
    return number
