"""Progress by tqdm, where it is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(total_s: float | None, show: bool | None) -> Iterator[Callable[[float], None] | None]:
    """A function that takes the simulated seconds of all runs so far, or ``None``.

    ``show=None`` shows progress on a terminal and in a notebook. Without tqdm there is none.
    """
    bar = None if show is False else _bar(total_s, show)
    if bar is None:
        yield None
        return
    with bar:

        def reach(seconds: float) -> None:
            bar.update(seconds - bar.n)

        yield reach


def _bar(total_s: float | None, show: bool | None):  # type: ignore[no-untyped-def]  # tqdm has no types
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    if show is None and not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        return None
    form = "{l_bar}{bar}| {n:.1f} of {total:.1f} s simulated, {remaining} left"
    form = form if total_s else "{n:.1f} s simulated, {elapsed}"
    return tqdm(total=total_s, bar_format=form, leave=False)
