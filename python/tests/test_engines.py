"""Sweeps on engines: the results are those of one process, whatever happens to workers."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import distributed
import fsspec
import pyarrow as pa
import pyarrow.dataset
import pytest
import ray

import ratewire
from conftest import SMALL
from ratewire._executor import run_tasks

sys.path.insert(0, str(Path(__file__).parents[1] / "examples/laws"))

from newreno import NewRenoByRound

OVER = {"bottleneck.rate": ["2M", "4M", "8M"]}
LAWS = ["xcp", "cubic"]


PAGES = ["sweep.json", "sweep.parquet", "sweep.html"]


def swept(folder: Path | str, executor: Any = None) -> ratewire.SweepResults:
    return ratewire.sweep(SMALL, OVER, law=LAWS, seed=[1, 2], folder=folder, executor=executor)


class Tired(ratewire.Law):
    """A law that gives up."""

    name = "tired"

    def start(self, flow: ratewire.Flow) -> None:
        self.window = 10.0 * flow.mss

    def on_ack(self, ack: ratewire.Ack) -> None:
        raise ValueError("enough is enough")


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
    """Carries out a number of calls, fails at the next, and is gone."""

    def __init__(self, calls: int, error: BaseException | None = None) -> None:
        self.calls = calls
        self.error = error or OSError("the engine is gone")

    def submit(self, call: Any, /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls -= 1
        if self.calls >= 0:
            future.set_result(call(*args, **named))
        elif self.calls == -1:
            future.set_exception(self.error)
        return future


def test_finished_runs_are_kept_and_a_sweep_goes_on(tmp_path: Path, whole: dict[str, Any]) -> None:
    with pytest.raises(OSError, match="the engine is gone"):
        swept(tmp_path, Failing(5))
    assert len(rows(tmp_path)) == 5
    engine = Failing(100)
    swept(tmp_path, engine)
    assert engine.calls == 100 - 7
    assert files(tmp_path) == whole


def test_ctrl_c_keeps_finished_runs_and_gives_them_a_page(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        swept(tmp_path, Failing(5, KeyboardInterrupt()))
    assert len(rows(tmp_path)) == 5
    assert json.loads((tmp_path / "sweep.json").read_text())["missing_runs"] == 7


def test_runs_beside_one_that_fails_are_kept(tmp_path: Path) -> None:
    over = {"bottleneck.rate": ["2M", "4M"]}
    engine = Failing(100)
    with pytest.raises(ratewire.RunError, match="enough is enough"):
        ratewire.sweep(SMALL, over, law=["xcp", Tired], folder=tmp_path, executor=engine)
    assert {row["law"] for row in rows(tmp_path)} == {"xcp"}
    assert len(rows(tmp_path)) == 2


def test_a_law_in_c_goes_to_processes(tmp_path: Path) -> None:
    plugin = Path(__file__).parents[2] / "crates/plugin"
    law = tmp_path / "newreno.so"
    include, source = plugin / "include", plugin / "laws/newreno.c"
    subprocess.run(f"cc -O2 -shared -fPIC -I {include} -o {law} {source}".split(), check=True)
    here = ratewire.sweep(SMALL, OVER, law=[str(law)])
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        there = ratewire.sweep(SMALL, OVER, law=[str(law)], executor=executor)
    assert pa.table(there.runs) == pa.table(here.runs)


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
    assert engine.calls == 100 - 7
    assert {name: memory.cat_file(f"/sweeps/one/{name}") for name in PAGES} == {
        name: whole[name] for name in PAGES
    }
    kept = memory.find("/sweeps/one/runs")
    table = pyarrow.dataset.dataset(kept, filesystem=memory, partitioning="hive").to_table()
    assert sorted(table["digest"].to_pylist()) == [row["digest"] for row in whole["runs"]]
    engine = Failing(0)
    swept(url, engine)
    assert engine.calls == 0, "nothing is run again"


def refused(*_: Any) -> None:
    raise PermissionError("no key for this bucket")


def test_a_place_that_cannot_be_written_is_told_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ratewire._store.Store.write", refused)
    engine = Failing(0)
    with pytest.raises(ratewire.FileError, match=r"memory://.*no key for this bucket") as told:
        swept("memory://sweeps/two", engine)
    assert isinstance(told.value.__cause__, PermissionError)
    assert engine.calls == 0


def test_results_that_cannot_be_written_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    # A place that fails after the sweep has begun.
    monkeypatch.setattr("ratewire._store.Store.list", lambda *_: _fail_from_now(monkeypatch))
    with pytest.raises(ratewire.IncompleteError, match="no key for this bucket") as told:
        swept("memory://sweeps/three")
    assert pa.table(told.value.results.runs).num_rows == 12


def _fail_from_now(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    write = ratewire._store.Store.write
    calls = iter([write])
    monkeypatch.setattr("ratewire._store.Store.write", lambda *given: next(calls, refused)(*given))
    return []


def test_files_of_others_are_left(whole: dict[str, Any]) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/sweeps/four/sweep.parquet", b"mine")
    with pytest.raises(ratewire.IncompleteError, match="Ratewire did not write what is there"):
        swept("memory://sweeps/four")
    assert memory.cat_file("/sweeps/four/sweep.parquet") == b"mine"
    with pytest.raises(ratewire.SettingError, match="lacks a slash"):
        swept(Path("memory://sweeps/five"))


def test_laws_that_are_classes_go_to_processes() -> None:
    context = multiprocessing.get_context("spawn")
    here = ratewire.sweep(SMALL, OVER, law=[NewRenoByRound])
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        there = ratewire.sweep(SMALL, OVER, law=[NewRenoByRound], executor=executor)
    assert pa.table(there.runs) == pa.table(here.runs)


def test_a_class_that_processes_cannot_import_is_refused() -> None:
    class Local(NewRenoByRound):
        name = "local"

    told = r"cannot import the law .*Local, which a function makes(.|\n)*help: put the class"
    with (
        ProcessPoolExecutor(1) as executor,
        pytest.raises(ratewire.SettingError, match=told),
    ):
        ratewire.sweep(SMALL, OVER, law=[Local], executor=executor)
    with ThreadPoolExecutor(1) as threads:
        assert ratewire.sweep(SMALL, OVER, law=[Local], executor=threads).runs


def test_a_worker_with_another_experiment_is_refused(tmp_path: Path) -> None:
    class Other(ThreadPoolExecutor):
        def submit(self, call: Any, /, scenario: Any, *more: Any) -> Future[Any]:  # type: ignore[override]
            return super().submit(call, scenario.set({"bottleneck.delay": "9 ms"}), *more)

    with pytest.raises(ratewire.SettingError, match="a worker has run another experiment"):
        swept(tmp_path, Other(1))


def test_what_is_no_engine_is_told() -> None:
    with pytest.raises(TypeError, match="a sweep cannot run on a int"):
        swept(Path("nowhere"), 5)


def _run_tasks_once_killed(*given: Any) -> Any:
    """As a worker does, but the first process that comes here is killed."""
    flag = Path(os.environ["RATEWIRE_TEST_FLAG"])
    try:
        flag.touch(exist_ok=False)
    except FileExistsError:
        return run_tasks(*given)
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
