"""Learns a congestion control in less than a minute: high throughput at a low queue.

The cross-entropy method searches the weights of a linear policy: each round tries policies near
the last mean, and goes on from the best of them. Every policy is an environment, so that a round is
one course of a vector of environments.

    python python/examples/learn.py
"""

from __future__ import annotations

import numpy as np

import ratewire
from ratewire import gym

#: Links that the policy has to serve: one policy for all rates and delays.
LINKS = [
    ratewire.Scenario.dumbbell(
        duration="60 s", law="cubic", rate=rate, delay=delay, queue="2 bdp"
    ).flow("s1", "d1")
    for rate, delay in [("4 Mbit/s", "10 ms"), ("10 Mbit/s", "5 ms"), ("6 Mbit/s", "20 ms")]
]


def features(observation: np.ndarray) -> np.ndarray:
    """What the policy knows: a constant, how far the RTT is above the least, and the loss.

    A sender can measure these. It cannot know the rate of the bottleneck.
    """
    stretch, loss = observation[:, 1], observation[:, 2]
    return np.stack([np.ones_like(stretch), stretch - 1.0, loss], axis=1)


def returns(weights: np.ndarray, env: gym.VectorEnv, steps: int, seed: int) -> np.ndarray:
    """Mean reward of each policy over a course; its weights are a row."""
    observation, _ = env.reset(seed=[seed + at % len(LINKS) for at in range(env.num_envs)])
    repeated = np.repeat(weights, len(LINKS), axis=0).reshape(env.num_envs, 3)
    total = np.zeros(env.num_envs)
    for _ in range(steps):
        window = np.tanh((features(observation) * repeated).sum(axis=1))
        # Twice a window in an RTT: the window alone decides.
        observation, reward, *_ = env.step(np.stack([window, np.ones_like(window)], axis=1))
        total += reward
    means: np.ndarray = total.reshape(len(weights), len(LINKS)).mean(axis=1) / steps
    return means


def learn(
    rounds: int = 15, policies: int = 50, steps: int = 100, seed: int = 1
) -> tuple[float, float]:
    """Learns, and returns the mean reward of the first policy and of the last."""
    random = np.random.default_rng(seed)
    env = gym.VectorEnv(LINKS, policies * len(LINKS))
    alone = gym.VectorEnv(LINKS, len(LINKS))
    mean, spread = np.zeros(3), np.full(3, 1.0)
    first = float(returns(mean[None], alone, steps, seed)[0])
    for turn in range(rounds):
        tried = mean + spread * random.standard_normal((policies, 3))
        gained = returns(tried, env, steps, seed)
        best = tried[np.argsort(gained)[-policies // 5 :]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.02
        print(f"round {turn + 1:2}: mean reward {gained.mean():6.3f}, best {gained.max():6.3f}")
    last = float(returns(mean[None], alone, steps, seed)[0])
    print(f"first policy {first:.3f}, learned policy {last:.3f}: weights {np.round(mean, 2)}")
    print("(1 is all of the link without a queue; headers leave about 0.97)")
    return first, last


if __name__ == "__main__":
    learn()
