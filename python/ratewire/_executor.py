"""Sweeps on engines that run on many cores and machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from typing import Any

from ratewire import _ratewire
from ratewire._asked import Asked
from ratewire._errors import SettingError
from ratewire._scenario import Scenario

#: Runs that an engine gets at a time: fewer calls where runs are short, and no worker without work.
_MOST_IN_A_CALL = 50
_CALLS = 200

_Task = tuple[int, list[tuple[str, str]], str, int]
_Done = tuple[int, str]


def run_tasks(
    scenario: Scenario, asked: Asked, tasks: list[_Task]
) -> tuple[list[_Done], BaseException | None]:
    """Carries out runs of a sweep, one after the other: what a worker is called with."""
    return _ratewire.run_tasks(scenario._checked(), asked, tasks)


def check_importable(executor: Any, scenario: Scenario) -> None:
    """Refuses a law whose class other processes cannot import; Dask and Ray send its code."""
    if not isinstance(executor, ProcessPoolExecutor):
        return
    for law in scenario._laws:
        if not isinstance(law, str) and "<locals>" in law.__qualname__:
            raise SettingError(
                f"the processes of the executor cannot import the law {law.__qualname__}, which a "
                "function makes\n  help: put the class at the top of a module that can be imported"
            )


def on(executor: Any, scenario: Scenario, asked: Asked) -> Callable[[list[_Task]], Iterator[_Done]]:
    """Carries out runs on an engine, and gives the figures of each as it is done.

    ``executor`` is a :class:`concurrent.futures.Executor`, a Dask client, or the module ``ray``.
    """
    engine = _engine(executor)

    def carry_out(tasks: list[_Task]) -> Iterator[_Done]:
        size = min(max(len(tasks) // _CALLS, 1), _MOST_IN_A_CALL)
        parts = [tasks[at : at + size] for at in range(0, len(tasks), size)]
        futures = {engine.submit(run_tasks, scenario, asked, part) for part in parts}
        failed: BaseException | None = None
        try:
            for future in as_completed(set(futures)):
                # What was given need not be kept.
                futures.discard(future)
                done, failed = _outcome(future)
                yield from done
                if failed is not None:
                    break
        except KeyboardInterrupt as error:
            failed = error
        try:
            # What was done beside the one that failed is kept, too.
            for future in [future for future in futures if future.done()]:
                yield from _outcome(future)[0]
        finally:
            for future in futures:
                future.cancel()
        if failed is not None:
            raise failed

    return carry_out


def _outcome(
    future: Future[tuple[list[_Done], BaseException | None]],
) -> tuple[list[_Done], BaseException | None]:
    """The runs that a call has carried out, and the exception that ended it."""
    try:
        return future.result()
    except (Exception, KeyboardInterrupt) as error:
        return [], error


def _engine(executor: Any) -> Executor:
    if isinstance(executor, Executor):
        return executor
    if hasattr(executor, "get_executor"):
        engine: Executor = executor.get_executor()
        return engine
    if hasattr(executor, "remote") and hasattr(executor, "init"):
        return RayExecutor(executor)
    what = type(executor).__name__
    raise TypeError(
        f"a sweep cannot run on a {what}: allowed are an Executor of concurrent.futures, a client "
        "of Dask, and the module ray"
    )


class RayExecutor(Executor):
    """Ray's tasks as an executor. A task whose worker dies is begun again elsewhere."""

    def __init__(self, ray: Any) -> None:
        if not ray.is_initialized():
            ray.init()
        self._ray = ray

    def submit(self, call: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        """Begins a task."""
        future: Future[Any] = self._ray.remote(call).remote(*args, **named).future()
        return future
