"""Laws in Python, and sweeps of many short runs on engines.

    python bench/python.py target/dist/ratewire

Packets a second are of processor time; rounds alternate, and medians are shown. A law by
acknowledgement has two callbacks a packet, `on_send` and `on_ack`. Runs of a sweep last a tenth of a
second of their time. A shell loop starts the command for each, two at a time.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import ratewire

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python/examples/laws"))

from newreno import NewReno, NewRenoByRound  # noqa: E402

ROUNDS = 5
#: Values of the swept key, each with this many seeds.
VALUES, SEEDS = 10, 1000
#: Starts of the command in the shell loop.
STARTS = 400


def packets_a_second(law: str | type[ratewire.Law]) -> float:
    scenario = ratewire.Scenario.dumbbell(
        rate="100 Mbit/s", delay="10 ms", pairs=2, duration="20 s", law="newreno"
    )
    before = time.process_time()
    results = ratewire.run(scenario.flow("s*", "d*"), law=[law])
    took = time.process_time() - before
    return results.summary.runs[0].engine.data_packets_delivered / took


def laws() -> None:
    all_laws = {"in the tree": "newreno", "in Python, by round": NewRenoByRound, "by acknowledgement": NewReno}
    found: dict[str, list[float]] = {name: [] for name in all_laws}
    for _ in range(ROUNDS):
        for name, law in all_laws.items():
            found[name].append(packets_a_second(law))
    print(f"{'NewReno':22} {'packets a second':>17} {'of the tree':>12}")
    own = statistics.median(found["in the tree"])
    for name, speeds in found.items():
        speed = statistics.median(speeds)
        print(f"{name:22} {speed:17,.0f} {speed / own:12.3f}")
    calls = 2 * statistics.median(found["by acknowledgement"])
    print(f"callbacks by acknowledgement: {calls:,.0f} a second\n")


def short() -> ratewire.Scenario:
    return ratewire.Scenario.dumbbell(
        rate="20 Mbit/s", delay="5 ms", duration="100 ms", law="cubic"
    ).flow("s1", "d1")


def shell_loop(command: str) -> float:
    """Seconds a run, two at a time."""
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "short.toml"
        path.write_text(short().text)
        loop = f"seq {STARTS} | xargs -P 2 -I% {command} run {path} --seed % --no-files --quiet >/dev/null 2>&1"
        began = time.perf_counter()
        subprocess.run(["sh", "-c", loop], check=True)
        return (time.perf_counter() - began) / STARTS


def megabytes() -> float:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def swept(executor: concurrent.futures.Executor | None, seeds: int, folder: str | None) -> float:
    """Seconds a run."""
    over = {"bottleneck.queue": [f"{5 * n} packets" for n in range(1, VALUES + 1)]}
    began = time.perf_counter()
    ratewire.sweep(short(), over, seed=range(1, seeds + 1), folder=folder, executor=executor)
    return (time.perf_counter() - began) / (VALUES * seeds)


def sweeps(command: str) -> None:
    loop = shell_loop(command)
    print(f"{VALUES * SEEDS} runs of 100 ms {'ms a run':>13} {'of the shell loop':>18} {'most MB':>8}")
    print(f"{'shell loop':28} {loop * 1e3:9.2f} {1:18.3f}")
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool, tempfile.TemporaryDirectory() as name:
        swept(pool, 1, None)
        ways = {"this process": (None, None), "with a folder": (None, f"{name}/a"),
                "two processes": (pool, None), "with a folder, two": (pool, f"{name}/b")}
        for way, (executor, folder) in ways.items():
            swept(executor, SEEDS // 10, None)
            before = megabytes()
            took = swept(executor, SEEDS, folder)
            print(f"{way:28} {took * 1e3:9.2f} {took / loop:18.3f} {before:5.0f} to {megabytes():.0f}")


if __name__ == "__main__":
    laws()
    sweeps(str(pathlib.Path(sys.argv[1]).resolve()))
