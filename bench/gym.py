"""Steps a second of 1,000 environments in one process, for some links and lengths of steps.

    python bench/gym.py

All environments of a measurement are alike. Each steps with random actions; the clock includes
Python's part (actions, observations, rewards) and the episodes that end and begin. The figure is
the median of five measurements. A step's cost is that of its packets, so packets are shown, too, and
the processor's time for a step, on which other programs have less influence.
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np

from ratewire import Scenario, gym

#: Rate, delay one way, length of a step.
CASES = [
    ("2 Mbit/s", "10 ms", "10 ms"),
    ("2 Mbit/s", "10 ms", "rtt"),
    ("10 Mbit/s", "10 ms", "10 ms"),
    ("10 Mbit/s", "10 ms", "rtt"),
    ("10 Mbit/s", "10 ms", "100 ms"),
    ("100 Mbit/s", "10 ms", "10 ms"),
]


def measure(rate: str, delay: str, step: str, count: int, steps: int = 30) -> tuple[float, float, float]:
    """Steps a second of all environments together, CPU seconds and data packets of a step."""
    scenario = Scenario.dumbbell(duration="1000 s", law="cubic", rate=rate, delay=delay)
    env = gym.VectorEnv(scenario.flow("s1", "d1"), count, step=step, time_limit="5 s")
    env.reset(seed=1)
    random = np.random.default_rng(1)
    actions = random.uniform(-1, 1, (steps, count, 2)).astype(np.float32)
    for action in actions:  # Windows reach their usual sizes.
        env.step(action)
    found, cpu, packets = [], [], []
    for _ in range(5):
        began, used = time.perf_counter(), time.process_time()
        for action in actions:
            env.step(action)
            state = env.state
            packets.append(np.mean(state.throughput_bps * state.interval_s / 8 / state.packet_bytes))
        found.append(count * steps / (time.perf_counter() - began))
        cpu.append((time.process_time() - used) / count / steps)
    return statistics.median(found), statistics.median(cpu), statistics.mean(packets)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{count} environments in one process")
    print(f"{'link':>12} {'delay':>6} {'step':>7} {'packets a step':>15} {'steps a second':>15} {'CPU a step':>11}")
    for rate, delay, step in CASES:
        speed, cpu, packets = measure(rate, delay, step, count)
        told = f"{rate:>12} {delay:>6} {step:>7} {packets:>15.1f} {speed:>15,.0f}"
        print(f"{told} {cpu * 1e6:>8.1f} us", flush=True)


if __name__ == "__main__":
    main()
