"""Sweeps on engines: the results are those of one process, whatever happens to workers."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import distributed
import fsspec
import pyarrow as pa
import pyarrow.dataset
import pytest

import ratewire
from conftest import SMALL
from ratewire._executor import run_tasks

sys.path.insert(0, str(Path(__file__).parents[1] / "examples/laws"))

from newreno import NewRenoByRound

OVER = {"bottleneck.rate": ["2M", "4M", "8M"]}
LAWS = ["xcp", "cubic"]


PAGES = ["sweep.json", "sweep.parquet", "sweep.html"]


def swept(folder: Path | str, executor: Any = None) -> ratewire.SweepResults:
    return ratewire.sweep(SMALL, OVER, laws=LAWS, seeds=[1, 2], folder=folder, executor=executor)


def rows(folder: Path) -> list[dict[str, Any]]:
    """The data set of finished runs, whatever files it is in."""
    if not (folder / "runs").exists():
        return []
    table = pyarrow.dataset.dataset(folder / "runs", partitioning="hive").to_table()
    return sorted(table.to_pylist(), key=lambda row: row["digest"])


def files(folder: Path) -> dict[str, Any]:
    return {"runs": rows(folder), **{name: (folder / name).read_bytes() for name in PAGES}}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Files of the sweep in this process."""
    folder = tmp_path_factory.mktemp("whole")
    swept(folder)
    return files(folder)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_processes_give_the_same_bytes(method: str, tmp_path: Path, whole: dict[str, Any]) -> None:
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        swept(tmp_path, executor)
    assert files(tmp_path) == whole


class Failing(Executor):
    """Carries out a number of calls, and fails then."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def submit(self, call: Any, /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls -= 1
        if self.calls < 0:
            future.set_exception(OSError("the engine is gone"))
        else:
            future.set_result(call(*args, **named))
        return future


def test_finished_runs_are_kept_and_a_sweep_goes_on(tmp_path: Path, whole: dict[str, Any]) -> None:
    with pytest.raises(OSError, match="the engine is gone"):
        swept(tmp_path, Failing(5))
    # Which of the calls are seen before the one that failed is chance.
    kept = len(rows(tmp_path))
    assert kept <= 5
    engine = Failing(100)
    swept(tmp_path, engine)
    assert engine.calls == 100 - (12 - kept)
    assert files(tmp_path) == whole


def test_the_data_set_has_a_row_a_run(whole: dict[str, Any]) -> None:
    runs = whole["runs"]
    assert len({row["digest"] for row in runs}) == len(runs) == 12
    assert {row["law"] for row in runs} == set(LAWS)
    assert {row["bottleneck.rate_bps"] for row in runs} == {2e6, 4e6, 8e6}
    assert all(row["version"] == ratewire.__version__ for row in runs)
    assert all(json.loads(row["summary"])["seed"] == row["seed"] for row in runs)
    assert all(0.3 < row["utilisation"] <= 1 for row in runs)


def test_a_sweep_stands_where_fsspec_can_write(whole: dict[str, Any]) -> None:
    memory = fsspec.filesystem("memory")
    url = "memory://sweeps/one"
    with pytest.raises(OSError, match="the engine is gone"):
        swept(url, Failing(5))
    engine = Failing(100)
    swept(url, engine)
    assert engine.calls >= 100 - 12
    assert {name: memory.cat_file(f"/sweeps/one/{name}") for name in PAGES} == {
        name: whole[name] for name in PAGES
    }
    kept = memory.find("/sweeps/one/runs")
    table = pyarrow.dataset.dataset(kept, filesystem=memory, partitioning="hive").to_table()
    assert sorted(table["digest"].to_pylist()) == [row["digest"] for row in whole["runs"]]
    engine = Failing(0)
    swept(url, engine)
    assert engine.calls == 0, "nothing is run again"


def test_a_place_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError("no key for this bucket")

    monkeypatch.setattr("ratewire._store.Store.write", refused)
    with pytest.raises(ratewire.FileError, match=r"memory://.*: .*no key for this bucket"):
        swept("memory://sweeps/two", Failing(100))


def test_laws_that_are_classes_go_to_processes() -> None:
    context = multiprocessing.get_context("spawn")
    here = ratewire.sweep(SMALL, OVER, laws=[NewRenoByRound])
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        there = ratewire.sweep(SMALL, OVER, laws=[NewRenoByRound], executor=executor)
    assert pa.table(there.runs) == pa.table(here.runs)


def test_a_worker_with_another_experiment_is_refused(tmp_path: Path) -> None:
    class Other(ThreadPoolExecutor):
        def submit(self, call: Any, /, scenario: Any, tasks: Any) -> Future[Any]:  # type: ignore[override]
            return super().submit(call, scenario.set({"bottleneck.delay": "9 ms"}), tasks)

    with pytest.raises(ratewire.SettingError, match="a worker has run another experiment"):
        swept(tmp_path, Other(1))


def test_what_is_no_engine_is_told() -> None:
    with pytest.raises(TypeError, match="a sweep cannot run on a int"):
        swept(Path("nowhere"), 5)


def _run_tasks_once_killed(scenario: Any, tasks: Any) -> Any:
    """As a worker does, but the first process that comes here is killed."""
    flag = Path(os.environ["RATEWIRE_TEST_FLAG"])
    try:
        flag.touch(exist_ok=False)
    except FileExistsError:
        return run_tasks(scenario, tasks)
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def test_dask_and_a_worker_that_is_killed(
    tmp_path: Path, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RATEWIRE_TEST_FLAG", str(tmp_path / "flag"))
    monkeypatch.setattr("ratewire._executor.run_tasks", _run_tasks_once_killed)
    folder = tmp_path / "sweep"
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        swept(folder, client)
    assert (tmp_path / "flag").exists()
    assert files(folder) == whole


def test_ray_and_a_worker_that_is_killed(
    tmp_path: Path, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray", reason="Ray takes 300 MB: pip install ray")
    monkeypatch.setenv("RATEWIRE_TEST_FLAG", str(tmp_path / "flag"))
    monkeypatch.setattr("ratewire._executor.run_tasks", _run_tasks_once_killed)
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    ray.init(
        num_cpus=2,
        _node_ip_address="127.0.0.1",
        include_dashboard=False,
        runtime_env={"env_vars": {"PYTHONPATH": path}},
    )
    try:
        swept(tmp_path / "sweep", ray)
    finally:
        ray.shutdown()
    assert (tmp_path / "flag").exists()
    assert files(tmp_path / "sweep") == whole
