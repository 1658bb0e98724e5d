"""Comparisons, sweeps, papers, questions, progress, Ctrl-C, processes and memory."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import ratewire
from conftest import ROOT, Command
from ratewire import Scenario


def long() -> Scenario:
    """A scenario that takes minutes."""
    return Scenario.dumbbell(
        duration="3000 s", law="cubic", rate="1 Gbit/s", delay="10 ms", pairs=4
    ).flow("s*", "d*")


def test_a_comparison_is_the_commands(small: Path, command: Command) -> None:
    mine = ratewire.compare(small, "xcp, cubic", seed="1..2")
    told = command("compare", small, "--law", "xcp,cubic", "--seed", "1,2", "--no-files", "-q")
    assert str(mine).split() == told.stdout.split()
    assert mine.content["laws"] == ["xcp", "cubic"]
    assert any(figure.name for figure in mine.figures)
    with pytest.raises(ratewire.ScenarioError, match="xpc"):
        ratewire.compare(small, ["xpc"])


def test_a_comparison_is_saved(small: Path, tmp_path: Path) -> None:
    ratewire.compare(small, "xcp", seed=1).save(tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "comparison.html",
        "comparison.json",
    }


def test_a_sweep_is_a_table(small: Path, tmp_path: Path) -> None:
    over = {"bottleneck.rate": "4M..16M:log2", "bottleneck.queue": ["20 packets", "40 packets"]}
    sweep = ratewire.sweep(small, over, law="xcp", folder=tmp_path / "sweep")
    runs = pl.DataFrame(sweep.runs)
    assert runs.height == 4
    assert runs["bottleneck.rate_bps"].unique().sort().to_list() == [4e6, 1.6e7]
    assert runs["utilisation"].min() > 0.5  # type: ignore[operator]
    assert (tmp_path / "sweep" / "sweep.parquet").is_file()
    assert "bottleneck.queue" in str(sweep)
    assert "utilisation" in [figure.name for figure in sweep.figures]
    sweep.report(tmp_path / "sweep.html")
    with pytest.raises(ratewire.SettingError, match="nothing is swept"):
        ratewire.sweep(small, {})


def test_why_answers_for_a_flow(small: Path) -> None:
    answer = ratewire.why(small, "s1->d1", "1 s", law="xcp")
    assert "s1->d1" in answer
    assert "bottleneck" in answer
    assert ratewire.why(small, "s1->d1", 1.0, law="xcp") == answer
    with pytest.raises(ratewire.SettingError, match="no flow is called"):
        ratewire.why(small, "s9->d9", "1 s")


def test_figures_of_papers_are_run_again(tmp_path: Path) -> None:
    papers = ratewire.papers(ROOT / "papers")
    assert "tcp-closed-forms" in papers
    figure = papers["tcp-closed-forms"][0]
    done = ratewire.reproduce(f"tcp-closed-forms/{figure}", papers=ROOT / "papers")
    assert done.claims
    assert done.passed
    assert done.claims[0].paper == "tcp-closed-forms"
    done.report(tmp_path / "paper.html")
    with pytest.raises(ratewire.SettingError, match="no paper is called"):
        ratewire.reproduce("nothing", papers=ROOT / "papers")


def test_ctrl_c_ends_runs_and_leaves_no_files(tmp_path: Path) -> None:
    pid = os.getpid()
    threading.Timer(0.5, lambda: os.kill(pid, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        ratewire.run(long(), folder=tmp_path / "out")
    assert not (tmp_path / "out" / "summary.json").exists()


def test_pythons_lock_is_free_during_a_run() -> None:
    turns = 0

    def count() -> None:
        nonlocal turns
        while turns < 50:
            time.sleep(0.001)
            turns += 1
        os.kill(os.getpid(), signal.SIGINT)

    other = threading.Thread(target=count)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        ratewire.run(long())
    other.join()
    assert turns == 50


def test_results_of_other_runs_are_kept(small: Path) -> None:
    with pytest.raises(ratewire.IncompleteError, match="hpcc did not run in emulate") as caught:
        ratewire.run(small, law="hpcc", world=["simulate", "emulate"])
    assert caught.value.results.summary.run("hpcc").world == "simulate"
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.results.summary == caught.value.results.summary


def test_progress_reaches_the_end(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    class Bar:
        n = 0.0

        def __init__(self, total: float, **_: object) -> None:
            assert total == pytest.approx(4.0)

        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def update(self, by: float) -> None:
            self.n += by
            seen.append(self.n)

    module = type(sys)("tqdm.auto")
    module.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", type(sys)("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    ratewire.run(small, progress=True)
    assert seen[-1] == pytest.approx(4.0)


def digest_of(seed: int) -> tuple[int, ratewire.Results]:
    scenario = Scenario.dumbbell(duration="1 s", law="xcp", rate="5 Mbit/s", delay="2 ms")
    return seed, ratewire.run(scenario.flow("s1", "d1"), seed=seed)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_processes_run_and_send_results(method: str) -> None:
    # The threads of this run are gone when processes are forked.
    expected = digest_of(1)[1].summary
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        done = dict(pool.map(digest_of, [1, 2], timeout=60))
    assert done[1].summary == expected
    assert done[2].summary.runs[0].seed == 2


def resident_mb() -> float:
    """Memory of this process, megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def test_many_runs_leave_no_memory_behind() -> None:
    scenario = Scenario.dumbbell(duration="0.2 s", law="xcp", rate="5 Mbit/s", delay="2 ms")
    scenario = scenario.flow("s1", "d1", size="20 KB")

    def use() -> None:
        results = ratewire.run(scenario)
        assert len(results.flows) + len(results.completions) > 1
        assert results.summary.runs
        pl.DataFrame(results.flows)

    for _ in range(30):
        use()
    before = resident_mb()
    for _ in range(80):
        use()
    grown = resident_mb() - before
    # Results of a run that stayed would take 0.18 MB, so 14 MB in all. Measured: within 1.1 MB.
    assert grown < 5, f"{grown:.1f} MB more after 80 runs"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda at: ratewire.run(at, law=[]), "law is empty"),
        (lambda at: ratewire.run(at, seed=[]), "seed is empty"),
        (lambda at: ratewire.run(at, seed=-1), "a seed cannot be -1"),
        (
            lambda at: ratewire.run(at, seed=[1, 2.5]),  # type: ignore[list-item]
            "a seed cannot be 2.5",
        ),
        (lambda at: ratewire.run(at, seed="5..1"), "^seed: 5..1 has no values: write the lesser"),
        (lambda at: ratewire.run(at, seed="1,x"), '^seed: "x" is none; allowed: whole numbers'),
        (lambda at: ratewire.run(at, during=5), 'write text, such as during="5s..30s"'),  # type: ignore[arg-type]
        (lambda at: ratewire.run(at, law="xcp", laws="cubic"), "leave out laws, the former name"),
        (lambda at: ratewire.compare(at, seed=1, seeds=1), "leave out seeds, the former name"),
        (
            lambda at: ratewire.sweep(at, {"bottleneck.rate": "5M..10M"}),
            "how many values. write 5M..10M:lin5",
        ),
        (
            lambda at: ratewire.sweep(at, {"bottleneck.rate": 5}),  # type: ignore[dict-item]
            r"write \[5\]",
        ),
        (lambda at: ratewire.sweep(at, {"bottleneck.rate": ["5M"]}, folder="nowhere://x"), "help:"),
    ],
)
def test_wrong_arguments_are_told_with_a_remedy(
    wrong: Callable[[Path], object], told: str, small: Path
) -> None:
    with pytest.raises(ratewire.SettingError, match=told):
        wrong(small)
