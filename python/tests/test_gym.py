"""Environments of Gymnasium."""

from __future__ import annotations

import copy
import importlib
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import ratewire
from conftest import ROOT
from ratewire import Scenario, gym
from test_runs import resident_mb

LINK = Scenario.dumbbell(
    duration="4 s", law="cubic", rate="5 Mbit/s", delay="5 ms", queue="40 packets"
).flow("s1", "d1")
LOSSY = Scenario.dumbbell(
    duration="4 s",
    law="cubic",
    rate="8 Mbit/s",
    delay="9 ms",
    bottleneck={"loss": {"random": 0.01}},
).flow("s1", "d1")


def still(window_of: Callable[[gym.State], Any]) -> gym.Act:
    """An action that keeps a window, without a pace."""
    return lambda _, state: (window_of(state), np.nan)


def test_gymnasiums_checker_passes() -> None:
    check_env(gym.Env([LINK, LOSSY], time_limit="1 s"), skip_render_check=True)


def test_equal_seeds_give_equal_trajectories() -> None:
    def course(seed: int) -> list[tuple[Any, ...]]:
        env = gym.Env([LINK, LOSSY], step="20 ms", time_limit="0.4 s")
        actions = np.random.default_rng(7).uniform(-1, 1, (60, 2))
        seen: list[tuple[Any, ...]] = [(env.reset(seed=seed)[0].tolist(),)]
        for action in actions:
            observation, gained, _, truncated, _ = env.step(action)
            seen.append((observation.tolist(), gained))
            if truncated:
                seen.append((env.reset()[0].tolist(),))
        return seen

    assert course(3) == course(3)
    assert len({str(course(seed)) for seed in range(6)}) > 1


def test_a_window_of_a_bandwidth_delay_product_fills_the_link() -> None:
    link = LINK.set({"bottleneck.rate": "20 Mbit/s", "bottleneck.delay": "20 ms"})
    env = gym.Env(link, step="100 ms", act=still(lambda state: 1.02 * state.bdp_bytes))
    env.reset(seed=1)
    for _ in range(20):
        observation, gained, *_ = env.step(env.action_space.sample())
    throughput, stretch, loss, *_ = observation
    assert throughput > 0.92
    assert stretch < 1.1
    assert loss == 0
    assert gained == pytest.approx(throughput - 0.5 * (stretch - 1), abs=1e-3)


def test_time_truncates_and_the_end_of_a_flow_terminates() -> None:
    env = gym.Env(LINK, step="100 ms", time_limit="0.5 s")
    env.reset(seed=1)
    ends = [env.step(np.zeros(2))[2:4] for _ in range(5)]
    assert ends == [(False, False)] * 4 + [(False, True)]
    short = gym.Env(LINK.set({"flow.1.size": "20 KB"}), step=0.5)
    short.reset(seed=1)
    assert short.step(np.zeros(2))[2:4] == (True, False)
    whole = gym.Env(LINK, step=10.0)
    whole.reset(seed=1)
    assert whole.step(np.zeros(2))[2:4] == (False, True)
    assert whole.state.time_s == 4.0


def test_parts_are_replaced() -> None:
    parts: dict[str, Any] = {
        "observe": lambda state: np.asarray(state.queue_bytes)[..., None].astype(np.float32),
        "reward": lambda state: -state.rtt_s,
        "act": lambda action, state: (action * state.packet_bytes, None),
        "observation_space": gymnasium.spaces.Box(0, 1e9, (1,)),
        "action_space": gymnasium.spaces.Discrete(50, start=1),
    }
    env = gym.Env(LINK, step="50 ms", **parts)
    env.reset(seed=1)
    observation, gained, *_ = env.step(40)
    assert observation.shape == (1,)
    assert gained == -env.state.rtt_s
    assert env.state.window_bytes == 40 * env.state.packet_bytes
    assert np.isnan(env.state.pacing_bps)
    many = gym.VectorEnv(LINK, 3, step="50 ms", **parts)
    many.reset(seed=1)
    seen, gains, *_ = many.step(np.array([40, 40, 5]))
    assert seen.tolist()[0] == observation.tolist()
    assert gains[0] == gained
    assert gains[2] > gains[0]


@pytest.mark.parametrize("batched", [True, False])
def test_many_environments_are_as_single_ones(batched: bool) -> None:
    limits: dict[str, Any] = {"step": "rtt", "time_limit": "0.3 s"}
    many = gym.VectorEnv([LINK, LOSSY], 12, batched=batched, **limits)
    single = gym.Env([LINK, LOSSY], **limits)
    observations, _ = many.reset(seed=5)
    assert many.observation_space.contains(observations)
    observation, _ = single.reset(seed=5 + 7)
    done, ends = False, 0
    for actions in np.random.default_rng(1).uniform(-1, 1, (60, 12, 2)).astype(np.float32):
        observations, gains, terminated, truncated, infos = many.step(actions)
        if done:
            observation, gained, done = single.reset()[0], 0.0, False
        else:
            observation, gained, _, done, _ = single.step(actions[7])
        assert observations[7].tolist() == observation.tolist()
        assert gains[7] == gained
        assert truncated[7] == done
        assert not terminated.any()
        assert infos["rtt_s"].shape == (12,)
        ends += done
    assert ends > 1


def test_modes_of_reset_are_gymnasiums() -> None:
    limits: dict[str, Any] = {"step": "100 ms", "time_limit": "0.2 s"}
    same = gym.VectorEnv(LINK, 2, autoreset=AutoresetMode.SAME_STEP, **limits)
    same.reset(seed=1)
    same.step(np.zeros((2, 2)))
    observations, _, _, truncated, infos = same.step(np.zeros((2, 2)))
    assert truncated.all()
    assert infos["time_s"].tolist() == [0, 0]
    assert infos["final_info"]["time_s"].tolist() == [0.2, 0.2]
    assert (infos["final_obs"] != observations).any()
    by_hand = gym.VectorEnv(LINK, 2, autoreset=AutoresetMode.DISABLED, **limits)
    by_hand.reset(seed=1)
    by_hand.step(np.zeros((2, 2)))
    by_hand.step(np.zeros((2, 2)))
    with pytest.raises(ratewire.SettingError, match="need `reset`"):
        by_hand.step(np.zeros((2, 2)))
    _, infos = by_hand.reset(options={"reset_mask": np.array([True, True])})
    assert infos["time_s"].tolist() == [0, 0]
    by_hand.step(np.zeros((2, 2)))


def test_mistakes_are_told() -> None:
    with pytest.raises(ratewire.SettingError, match="no flow is called"):
        gym.Env(LINK, flow="s9->d9").reset()
    with pytest.raises(ratewire.SettingError, match="step"):
        gym.Env(LINK, step="soon")
    with pytest.raises(ratewire.SettingError, match="help: call `reset` first"):
        gym.Env(LINK).step(np.zeros(2))
    env = gym.Env(LINK, act=lambda action, state: (np.inf, None))
    env.reset()
    with pytest.raises(ValueError, match="environment 0: window inf bytes"):
        env.step(np.zeros(2))
    env = gym.Env(LINK, act=lambda action, state: (1e30, None))
    env.reset()
    with pytest.raises(ValueError, match="the window is 1e30 bytes, and there is no pace: at most"):
        env.step(np.zeros(2))


def test_many_environments_leave_no_memory_behind() -> None:
    def use() -> None:
        many = gym.VectorEnv(LINK, 50, step="20 ms", time_limit="0.04 s")
        many.reset(seed=1)
        for _ in range(6):
            many.step(many.action_space.sample())

    def grown_mb() -> float:
        before = resident_mb()
        for _ in range(6):
            use()
        return resident_mb() - before

    # The allocator keeps what was freed, so the process grows until it has enough; how soon depends
    # on its threads. What leaks grows each time: a simulation takes 0.2 MB, so those of 6 uses with
    # 3 episodes each would take 180 MB.
    growth = [grown_mb()]
    while growth[-1] >= 10 and len(growth) < 12:
        growth.append(grown_mb())
    assert growth[-1] < 10, f"{growth} MB more, each for 6 uses"


def test_the_example_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(ROOT) / "python/examples"))
    learn = importlib.import_module("learn")
    first, last = learn.learn(rounds=4, policies=16, steps=30, seed=1)
    sys.modules.pop("learn")
    assert last > first + 0.1


@pytest.mark.parametrize("name", ["gymnasium", "numpy"])
def test_a_missing_package_is_told(name: str) -> None:
    program = f"import sys; sys.modules[{name!r}] = None; import ratewire.gym"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert b"ratewire.gym needs Gymnasium and NumPy: pip install gymnasium" in done.stderr


def test_other_flows_may_obey_a_class() -> None:
    calls: list[float] = []

    class Two(ratewire.Law):
        name = "two"

        def start(self, flow: ratewire.Flow) -> None:
            self.window = 2 * flow.mss

        def on_ack(self, ack: ratewire.Ack) -> None:
            calls.append(ack.now)

    pairs = Scenario.dumbbell(
        duration="2 s", law="cubic", rate="5 Mbit/s", delay="5 ms", pairs=2
    ).flow("s*", "d*")
    env = gym.Env(pairs, law=Two, step="100 ms")
    env.reset(seed=1)
    for _ in range(5):
        env.step(np.zeros(2))
    assert calls


def copied(env: Any) -> Any:
    return copy.deepcopy(env)


def pickled(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


def course(env: gym.Env, steps: int, actions: int) -> list[tuple[Any, ...]]:
    """What an environment answers to actions drawn with this seed, over the ends of episodes."""
    seen: list[tuple[Any, ...]] = []
    for action in np.random.default_rng(actions).uniform(-1, 1, (steps, 2)):
        observation, gained, terminated, truncated, info = env.step(action)
        seen.append((observation.tobytes(), gained, terminated, truncated, info))
        if terminated or truncated:
            seen.append((env.reset()[0].tobytes(),))
    return seen


@pytest.mark.parametrize("of", [copied, pickled])
@pytest.mark.parametrize("step", ["rtt", "20 ms"])
def test_a_copy_in_mid_episode_goes_on_as_the_original(of: Any, step: str) -> None:
    env = gym.Env([LINK, LOSSY], step=step, time_limit="0.5 s")
    env.reset(seed=3)
    course(env, 17, 1)
    other = of(env)
    assert other.state == env.state
    # The copy goes first: what it does must not reach the original.
    there = course(other, 60, 2)
    assert there == course(env, 60, 2)
    assert len({str(part) for part in there}) > 50
    assert course(of(env), 10, 3) != course(env, 10, 4)


@pytest.mark.parametrize("of", [copied, pickled])
def test_a_copy_of_many_environments_goes_on_as_they_do(of: Any) -> None:
    env = gym.VectorEnv([LINK, LOSSY], 5, time_limit="0.2 s")
    env.reset(seed=5)
    random = np.random.default_rng(1)
    many = random.uniform(-1, 1, (40, 5, 2)).astype(np.float32)
    for actions in many[:15]:
        env.step(actions)
    other = of(env)
    for actions in many[15:]:
        here, there = env.step(actions), other.step(actions)
        for one, same in zip(here[:4], there[:4], strict=True):
            assert one.tobytes() == same.tobytes()


@pytest.mark.parametrize("of", [copied, pickled])
def test_an_environment_is_copied_before_its_first_reset(of: Any) -> None:
    env = gym.Env(LINK, step="20 ms")
    other = of(env)
    with pytest.raises(ratewire.SettingError, match="has not begun"):
        other.step(np.zeros(2))
    assert env.reset(seed=4)[0].tobytes() == other.reset(seed=4)[0].tobytes()


def test_a_copy_that_takes_another_course_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "link.toml"
    path.write_text(LINK.text)
    env = gym.Env(str(path), step="20 ms")
    env.reset(seed=1)
    course(env, 5, 1)
    state = env._many.__getstate__()
    state["rows"] = state["rows"] + 1.0
    with pytest.raises(ratewire.SettingError, match="another course"):
        gym._Many.__new__(gym._Many).__setstate__(state)


def test_gymnasium_makes_environments_by_their_id() -> None:
    env = gymnasium.make("ratewire/Flow-v0", scenario=LINK, flow="s1->d1", step="20 ms")
    assert isinstance(env.unwrapped, gym.Env)
    observation, _ = env.reset(seed=1)
    alone = gym.Env(LINK, step="20 ms")
    assert observation.tobytes() == alone.reset(seed=1)[0].tobytes()
    env.step(env.action_space.sample())
    other = pickled(copied(env))
    action = env.action_space.sample()
    assert other.step(action)[0].tobytes() == env.step(action)[0].tobytes()
    many = gymnasium.make_vec(
        "ratewire/Flow-v0", 3, gymnasium.VectorizeMode.VECTOR_ENTRY_POINT, scenario=LINK
    )
    assert isinstance(many, gym.VectorEnv)
    assert many.num_envs == 3
