"""Environments of Gymnasium in which a learner is the congestion control of one flow.

::

    from ratewire import gym

    env = gym.Env("scenario.toml", flow="s1->d1", step="rtt", time_limit="10 s")
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Needs Gymnasium and NumPy: ``pip install '.[gym]'``. :class:`VectorEnv` runs many simulations in
this process on all cores, without sockets.

Gymnasium knows the environments as ``ratewire/Flow-v0``, once this module is imported::

    env = gymnasium.make("ratewire/Flow-v0", scenario="scenario.toml", flow="s1->d1")

Observation, reward and action are functions of a :class:`State`. The same function serves one
environment, whose state has numbers, and many, whose state has an array of each.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ratewire import _ratewire
from ratewire._errors import SettingError
from ratewire._law import LawLike, one_law
from ratewire._scenario import Scenario, ScenarioLike, meant

try:
    import gymnasium
    import numpy as np
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError as missing:
    if missing.name not in ("gymnasium", "numpy"):
        raise
    what = "ratewire.gym needs Gymnasium and NumPy: pip install gymnasium"
    raise ModuleNotFoundError(what, name=missing.name) from missing

Array: TypeAlias = Any
"""A number, or an array with a number of each environment."""

Observe = Callable[["State"], Array]
Reward = Callable[["State"], Array]
Act = Callable[[Array, "State"], tuple[Array, Array]]

__all__ = ["Env", "State", "VectorEnv", "act", "observe", "reward"]


@dataclass(frozen=True)
class State:
    """What the last step measured, and the flow after it.

    A field is a number in an :class:`Env`, and an array with a number of each environment in a
    :class:`VectorEnv`. NaN stands for an unknown number.
    """

    time_s: Array
    """Time since the start of the flow, seconds."""
    interval_s: Array
    """Length of the step, seconds; 0 after a reset."""
    throughput_bps: Array
    """Payload that arrived at the receiver over the step, bits per second."""
    rtt_s: Array
    """Mean of the step's round-trip times, or of the last step that had one, seconds."""
    min_rtt_s: Array
    """Least round-trip time of the episode, seconds."""
    base_rtt_s: Array
    """Round-trip time of a full packet in the empty network, seconds."""
    loss: Array
    """Share of the payload that the step found lost, 0 to 1."""
    marked: Array
    """Share of the payload acknowledged over the step that was marked (ECN), 0 to 1."""
    window_bytes: Array
    """Window, payload."""
    pacing_bps: Array
    """Pace, a network-layer rate, bits per second; NaN without one."""
    in_flight_bytes: Array
    """Payload outstanding."""
    rate_bps: Array
    """Rate of the slowest link on the flow's route now, bits per second."""
    queue_bytes: Array
    """Bytes that wait at this link."""
    packet_bytes: Array
    """Payload of a full packet."""
    has_ended: Array
    """Whether the flow is over, 0 or 1."""
    is_over: Array
    """Whether the run has reached its end, 0 or 1."""

    @property
    def bdp_bytes(self) -> Array:
        """Bandwidth-delay product: the slowest link's rate times the base round-trip time."""
        return self.rate_bps * self.base_rtt_s / 8

    @property
    def _rtt_s(self) -> Array:
        return np.where(np.isnan(self.rtt_s), self.base_rtt_s, self.rtt_s)

    @property
    def _stretch(self) -> Array:
        """Round-trip time over the least."""
        least = np.where(np.isnan(self.min_rtt_s), self.base_rtt_s, self.min_rtt_s)
        return self._rtt_s / least


OBSERVATION = gymnasium.spaces.Box(0.0, 100.0, (5,), np.float32)
"""The space of :func:`observe`."""

ACTION = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float32)
"""The space of :func:`act`."""


def observe(state: State) -> Array:
    """The default observation, five numbers from 0 to 100.

    Throughput over the slowest link's rate; round-trip time over the least; share lost; window
    over the bandwidth-delay product; pace over the slowest link's rate, 0 without a pace.
    """
    rate, bdp = np.maximum(state.rate_bps, 1.0), np.maximum(state.bdp_bytes, 1.0)
    parts = (
        state.throughput_bps / rate,
        state._stretch,
        state.loss,
        state.window_bytes / bdp,
        np.nan_to_num(state.pacing_bps) / rate,
    )
    return np.clip(np.stack(parts, axis=-1), 0.0, 100.0).astype(np.float32)


def reward(state: State) -> Array:
    """The default reward: throughput/rate - 0.5 (rtt/min_rtt - 1) - loss.

    The form is that of Aurora (Jay et al., "A Deep Reinforcement Learning Perspective on Internet
    Congestion Control", ICML 2019): linear in throughput, delay and loss. Here all three have no
    unit, so that one weight serves links of any rate and delay.
    """
    throughput = state.throughput_bps / np.maximum(state.rate_bps, 1.0)
    return throughput - 0.5 * (state._stretch - 1.0) - state.loss


def act(action: Array, state: State) -> tuple[Array, Array]:
    """The default action, two numbers from -1 to 1: window in bytes, and pace in bits per second.

    The first multiplies the window by a power of 2, from 1/2 to 2; the window stays between two
    packets and sixteen bandwidth-delay products. The second is the power of 2 by which the pace
    differs from a window in a round-trip time.
    """
    action = np.clip(np.asarray(action, np.float64), -1.0, 1.0)
    least = 2.0 * state.packet_bytes
    most = np.maximum(16.0 * state.bdp_bytes, least)
    window = np.clip(state.window_bytes * 2.0 ** action[..., 0], least, most)
    return window, 2.0 ** action[..., 1] * window * 8.0 / state._rtt_s


Scenarios: TypeAlias = ScenarioLike | Sequence[ScenarioLike]


_Rest: TypeAlias = tuple[int, str, str | None, float | None, int | None]


class _Many:
    """Environments by number, and the arrays that they are told."""

    def __init__(
        self,
        scenarios: Scenarios,
        count: int,
        flow: str,
        law: LawLike | None,
        step: str | float,
        time_limit: str | float | None,
        threads: int | None,
    ) -> None:
        given = scenarios if isinstance(scenarios, Sequence) else [scenarios]
        given = [scenarios] if isinstance(scenarios, str) else given
        name, known = one_law(law)
        these = [meant(one, None, known) for one in given]
        if not these or count < 1:
            raise SettingError("no environment: give at least one scenario, and a number above 0")
        length = None if step == "rtt" else _ratewire.seconds("step", step)
        if length is not None and length <= 0:
            raise SettingError(f"step: {step!r} is not above 0")
        limit = None if time_limit is None else _ratewire.seconds("time_limit", time_limit)
        self.count = count
        self.scenarios = len(these)
        self.limit_s = np.inf if limit is None else limit
        self.randoms: list[np.random.Generator | None] = [None] * count
        self._begin(these, (count, flow, name, length, threads))

    def _begin(self, scenarios: list[Scenario], rest: _Rest) -> None:
        """Makes the simulations, of which none has begun."""
        self._made_of = (scenarios, rest)
        natives = [one._checked() for one in scenarios]
        self.native = _ratewire.Environments(natives, *rest)
        self.rows = np.zeros((self.count, len(self.native.columns)))

    def __getstate__(self) -> dict[str, Any]:
        """All but the simulations, which a copy runs again from the last reset."""
        state = {name: one for name, one in vars(self).items() if name != "native"}
        return state | {"_episodes": self.native.episodes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        episodes, rows = state.pop("_episodes"), state.pop("rows")
        vars(self).update(state)
        self._begin(*self._made_of)
        again = np.frombuffer(self.native.replay(episodes)).reshape(self.count, -1)
        if not np.array_equal(again, rows, equal_nan=True):
            raise SettingError(
                "a copy of an environment took another course than the original\n"
                "  help: copy it with the version, the laws and the files with which it has run"
            )
        self.rows = again

    def __deepcopy__(self, memo: dict[int, Any]) -> _Many:
        """A copy that reads no scenario again."""
        copied = _Many.__new__(_Many)
        memo[id(self)] = copied
        state = self.__getstate__()
        copied.__setstate__(state | {"randoms": copy.deepcopy(self.randoms, memo)})
        return copied

    def seed(self, at: int, seed: int | None) -> None:
        """Seeds the episodes of an environment; without a seed it goes on, or begins anywhere."""
        if seed is not None or self.randoms[at] is None:
            self.randoms[at] = np.random.default_rng(seed)

    def act(self, reset: Array, rest: Array, window: Array, pace: Array) -> State:
        """Resets some, leaves some at rest, and steps all others."""
        orders = np.where(np.broadcast_to(rest, self.count), -2, -1).astype(np.int64)
        seeds = np.zeros(self.count, np.uint64)
        for at in np.flatnonzero(reset):
            random = self.randoms[at]
            assert random is not None
            orders[at] = random.integers(self.scenarios)
            seeds[at] = random.integers(2**63)
        told = (np.asarray(one, np.float64) for one in (window, pace))
        told = (np.ascontiguousarray(np.broadcast_to(one, self.count)) for one in told)
        rows = self.native.act(orders.tobytes(), seeds.tobytes(), *(one.tobytes() for one in told))
        self.rows = np.frombuffer(rows).reshape(self.count, -1)
        return self.state()

    def check_begun(self) -> None:
        """Refuses a step before the first reset."""
        if None in self.randoms:
            raise SettingError("an environment has not begun\n  help: call `reset` first")

    def state(self) -> State:
        """The state of all environments."""
        return State(*self.rows.T)

    def one(self, at: int) -> State:
        """The state of an environment."""
        return State(*self.rows[at])

    def ends(self, state: State) -> tuple[Array, Array]:
        """Which episodes are terminated, by the end of the flow, and truncated, by time."""
        terminated = state.has_ended != 0
        # A step ends within a picosecond of the limit.
        over = (state.is_over != 0) | (state.time_s >= self.limit_s - 1e-9)
        return terminated, over & ~terminated


INFO = ("time_s", "throughput_bps", "rtt_s", "loss", "queue_bytes")
"""Fields of the state that ``info`` has, where they are known."""


def _info(state: State) -> dict[str, Any]:
    values = {name: float(getattr(state, name)) for name in INFO}
    return {name: value for name, value in values.items() if not np.isnan(value)}


class Env(gymnasium.Env[Any, Any]):
    """One flow of a scenario, whose window and pace an agent sets once a step.

    ``scenario`` is that of :func:`ratewire.run`, or a list, of which each episode draws one.
    ``flow`` is the flow's name; all others obey ``law``, a name or a class, or the scenario's first
    law. ``step`` is the length of a step, such as ``100 ms``, a number of seconds, or ``rtt`` for
    the flow's last round-trip time. An episode begins at the flow's start. It is terminated when
    the flow is over, and truncated after ``time_limit`` or at the end of the run.

    ``observe``, ``reward`` and ``act`` take a :class:`State`. ``observation_space`` and
    ``action_space`` belong to ``observe`` and ``act``. ``act`` returns the window in bytes, and
    the pace in bits per second, or NaN for none. Equal seeds and actions give equal episodes.

    ``copy.deepcopy`` and ``pickle`` copy an environment in mid-episode: under the same actions,
    both go on alike. A copy runs the episode again from its reset, which takes as long as the
    episode has taken so far.
    """

    def __init__(
        self,
        scenario: Scenarios,
        *,
        flow: str = "s1->d1",
        law: LawLike | None = None,
        step: str | float = "rtt",
        time_limit: str | float | None = None,
        observe: Observe = observe,
        reward: Reward = reward,
        act: Act = act,
        observation_space: gymnasium.Space[Any] = OBSERVATION,
        action_space: gymnasium.Space[Any] = ACTION,
    ) -> None:
        self._many = _Many(scenario, 1, flow, law, step, time_limit, 1)
        self._observe, self._reward, self._act = observe, reward, act
        self.observation_space, self.action_space = observation_space, action_space

    @property
    def state(self) -> State:
        """The state that observation and reward are made of."""
        return self._many.one(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode, at the start of the flow. A seed decides it and those after it."""
        super().reset(seed=seed)
        self._many.seed(0, seed)
        self._many.act(np.array([True]), False, 0.0, np.nan)
        return self._observe(self.state), _info(self.state)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Sets window and pace, and runs a step."""
        self._many.check_begun()
        window, pace = self._act(action, self.state)
        self._many.act(np.array([False]), False, window, np.nan if pace is None else pace)
        state = self.state
        terminated, truncated = self._many.ends(state)
        observation, gained = self._observe(state), float(self._reward(state))
        return observation, gained, bool(terminated), bool(truncated), _info(state)


class VectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Many environments in this process, which step together on all cores.

    Arguments are those of :class:`Env`, and ``num_envs`` is the number of environments. With
    ``batched``, ``observe``, ``reward`` and ``act`` are called once a step with arrays; without,
    once for each environment with numbers. The spaces are those of one environment.
    ``autoreset`` is Gymnasium's mode: by default, the step after an episode's end begins the next
    episode and ignores the action. ``threads`` limits the cores in use.
    """

    def __init__(
        self,
        scenario: Scenarios,
        num_envs: int,
        *,
        flow: str = "s1->d1",
        law: LawLike | None = None,
        step: str | float = "rtt",
        time_limit: str | float | None = None,
        observe: Observe = observe,
        reward: Reward = reward,
        act: Act = act,
        observation_space: gymnasium.Space[Any] = OBSERVATION,
        action_space: gymnasium.Space[Any] = ACTION,
        batched: bool = True,
        autoreset: AutoresetMode = AutoresetMode.NEXT_STEP,
        threads: int | None = None,
    ) -> None:
        self._many = _Many(scenario, num_envs, flow, law, step, time_limit, threads)
        self._observe, self._reward, self._act = observe, reward, act
        self._batched, self._mode = batched, autoreset
        self._done = np.zeros(num_envs, bool)
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": autoreset}
        self.single_observation_space = observation_space
        self.single_action_space = action_space
        self.observation_space = batch_space(observation_space, num_envs)
        self.action_space = batch_space(action_space, num_envs)

    @property
    def state(self) -> State:
        """The state of all environments, an array for each field."""
        return self._many.state()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in each environment, or in those of ``options["reset_mask"]``.

        A number seeds the environments with it and the numbers that follow.
        """
        seeds = [None] * self.num_envs if seed is None else seed
        if isinstance(seeds, int | np.integer):
            seeds = [int(seeds) + at for at in range(self.num_envs)]
        mask = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs)), bool)
        for at in np.flatnonzero(mask):
            self._many.seed(int(at), seeds[int(at)])
        self._done = np.where(mask, False, self._done)
        state = self._many.act(mask, ~mask, 0.0, np.nan)
        return self._all(self._observe, state), self._infos(state)

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """Sets windows and paces, and runs a step of each environment."""
        self._many.check_begun()
        reset = self._done if self._mode == AutoresetMode.NEXT_STEP else np.zeros_like(self._done)
        if self._mode == AutoresetMode.DISABLED and self._done.any():
            raise SettingError(f"episodes are over: {np.flatnonzero(self._done)[:5]} need `reset`")
        before = self.state
        if self._batched:
            window, pace = self._act(actions, before)
        else:
            every = [self._act(actions[at], self._many.one(at)) for at in range(self.num_envs)]
            window, pace = np.array(every, np.float64).T
        state = self._many.act(reset, False, window, np.nan if pace is None else pace)
        terminated, truncated = (np.where(reset, False, end) for end in self._many.ends(state))
        gained = np.where(reset, 0.0, self._all(self._reward, state))
        observation, infos = self._all(self._observe, state), self._infos(state)
        self._done = terminated | truncated
        if self._mode == AutoresetMode.SAME_STEP and self._done.any():
            done, self._done = self._done, np.zeros_like(self._done)
            state = self._many.act(done, ~done, 0.0, np.nan)
            final, last = observation, infos
            observation, infos = self._all(self._observe, state), self._infos(state)
            infos |= {"final_obs": final, "_final_obs": done, "final_info": last}
            infos["_final_info"] = done
        return observation, gained, terminated, truncated, infos

    def _all(self, function: Callable[[State], Array], state: State) -> Array:
        if self._batched:
            return function(state)
        return np.stack([np.asarray(function(self._many.one(at))) for at in range(self.num_envs)])

    def _infos(self, state: State) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        for name in INFO:
            values = getattr(state, name)
            infos[name], infos[f"_{name}"] = np.nan_to_num(values), ~np.isnan(values)
        return infos


gymnasium.register(
    id="ratewire/Flow-v0",
    entry_point="ratewire.gym:Env",
    vector_entry_point="ratewire.gym:VectorEnv",
)
