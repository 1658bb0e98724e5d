"""Laws of one's own as classes."""

from __future__ import annotations

import gc
import struct
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ratewire
from ratewire import Ack, Congestion, Flow, Interval

sys.path.insert(0, str(Path(__file__).parents[1] / "examples/laws"))

from newreno import NewReno, NewRenoByRound
from offers import Offers

#: Losses, an idle application, timeouts.
LOSSY = """\
duration = "6 s"
law = "newreno"
[topology]
kind = "dumbbell"
pairs = 2
rtt = "40 ms"
[topology.bottleneck]
rate = "5 Mbit/s"
delay = "10 ms"
queue = "20 packets"
loss = { random = 0.004 }
[[flow]]
from = "s1"
to = "d1"
[[flow]]
from = "s2"
to = "d2"
app = { on_off = { burst = "30 packets", pause = "1 s" } }
"""


def windows(results: ratewire.Results, law: str) -> list[Any]:
    table = pa.table(results.flows).to_pydict()
    rows = zip(table["law"], table["flow"], table["cwnd_bytes"], strict=True)
    return [(flow, window) for ran, flow, window in rows if ran == law]


def utilisation(results: ratewire.Results, law: str) -> float:
    run = next(run for run in results.summary.runs if run.law == law)
    return next(link.utilisation for link in run.links if link.name == "bottleneck")


def test_newreno_has_the_windows_of_newreno() -> None:
    results = ratewire.run(LOSSY, law=["newreno", NewReno])
    own = windows(results, "newreno-py")
    assert len(own) > 1000
    assert own == windows(results, "newreno")


def test_a_law_may_work_once_a_round_trip() -> None:
    results = ratewire.run(LOSSY, law=["newreno", NewRenoByRound])
    own, other = utilisation(results, "newreno-round"), utilisation(results, "newreno")
    assert 0.8 * other < own < 1.2 * other


def test_routers_may_write_headers() -> None:
    scenario = ratewire.Scenario.dumbbell(
        rate="5 Mbit/s", delay="10 ms", duration="12 s", law="xcp", pairs=3
    ).flow("s*", "d*")
    scenario = scenario.expect("jain", during="10 s .. 12 s", min=0.99)
    scenario = scenario.expect("utilisation", link="bottleneck", during="8 s .. 12 s", min=0.9)
    results = ratewire.run(scenario, law=Offers)
    assert all(found.passed for found in results.summary.expectations)
    found = ratewire.run(scenario, law=Offers, set={"options.offers-py.fill": 0.5})
    assert utilisation(found, "offers-py") < 0.55


def test_a_scenario_may_name_a_class() -> None:
    text = LOSSY + 'law = "newreno-py"\n[options.newreno-py]\ninitial_window = "3 packets"\n'
    with pytest.raises(ratewire.ScenarioError, match="no law is called"):
        ratewire.Scenario.parse(text)
    scenario = ratewire.Scenario.parse(text, law=[NewReno])
    flows = ratewire.run(scenario).summary.runs[0].flows
    assert [flow.law for flow in flows] == ["newreno", "newreno-py"]
    wrong = text.replace('"3 packets"', '"3 parsecs"')
    with pytest.raises(ratewire.ScenarioError, match="parsecs"):
        ratewire.Scenario.parse(wrong, law=[NewReno])


def test_other_ways_to_run_take_classes() -> None:
    short = {"duration": "2 s"}
    assert "newreno-py" in str(ratewire.compare(LOSSY, [NewReno, "cubic"], seed="1..2", set=short))
    swept = ratewire.sweep(LOSSY, {"bottleneck.rate": ["5M", "8M"]}, law=[NewReno], set=short)
    assert set(pa.table(swept.runs).to_pydict()["law"]) == {"newreno-py"}
    told = ratewire.why(LOSSY, "s1->d1", 1.5, law=NewReno)
    assert "what the law in Python has set" in told


class Broken(NewReno):
    name = "broken"
    how = ratewire.option(
        "raise",
        words=["raise", "nan", "negative", "endless", "unlimited", "huge", "text", "none", "unit"],
        doc="How.",
    )

    def on_ack(self, ack: Ack) -> None:
        if ack.now > 1:
            if self.how == "raise":
                raise KeyError("what is missing")
            wrong: dict[str, Any] = {"text": "10", "none": None}
            wrong |= {
                "nan": float("nan"),
                "negative": -1.0,
                "unlimited": float("inf"),
                "huge": 1e30,
            }
            self.window = wrong.get(self.how, self.window)
            paces: dict[str, Any] = {"endless": float("inf"), "unit": "10 Mbit/s"}
            self.pace = paces.get(self.how)


class Huge(ratewire.Law):
    name = "huge"

    def start(self, flow: Flow) -> None:
        self.window = 1e30


def test_a_large_window_needs_a_pace() -> None:
    with pytest.raises(ratewire.RunError, match="`window` is 1e30 bytes"):
        ratewire.run(LOSSY, law=Huge)

    class Paced(Huge):
        name = "huge-paced"
        goes_by_pace = True

        def start(self, flow: Flow) -> None:
            super().start(flow)
            self.pace = 1e5

    assert ratewire.run(LOSSY, law=Paced).summary

    class Largest(ratewire.Law):
        name = "largest"

        def start(self, flow: Flow) -> None:
            self.window = 2.0**30 if self.wide else 2 * flow.mss
            self.pace = None

        wide = ratewire.option(False, doc="Whether the window is the largest.")

    short = {"flow.1.size": "9 KB", "options.largest.wide": True}
    assert ratewire.run(LOSSY, law=Largest, set=short).summary


def test_an_exception_is_the_cause_of_the_runs_error() -> None:
    with pytest.raises(ratewire.RunError, match="`on_ack` raised KeyError") as raised:
        ratewire.run(LOSSY, law=Broken)
    cause = raised.value.__cause__
    assert isinstance(cause, KeyError)
    assert cause.args == ("what is missing",)
    assert cause.__traceback__ is not None


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("nan", "`window` is NaN bytes"),
        ("negative", "`window` is -1 bytes"),
        ("endless", "`pace`"),
        ("unlimited", "`window` is inf bytes, and there is no `pace`"),
        ("huge", r"`window` is 1e30 bytes, and there is no `pace`: at most 1073741824 bytes"),
        ("text", "`window` is '10': allowed is a number of bytes, 0 or more"),
        ("none", "`window` is None: allowed is a number of bytes, 0 or more"),
        ("unit", "`pace` is '10 Mbit/s': allowed is None, and a number of bytes per second"),
    ],
)
def test_numbers_that_no_law_may_give_end_the_run(how: str, told: str) -> None:
    with pytest.raises(ratewire.RunError, match=told):
        ratewire.run(LOSSY, law=Broken, set={"options.broken.how": how})


def test_classes_are_refused_with_a_reason() -> None:
    with pytest.raises(ValueError, match="a header of 40 bytes is too long: 32 fit"):

        class _Long(ratewire.Law):
            name = "long"
            header_length = 40

    with pytest.raises(ValueError, match=r"found .3\.0.; allowed"):

        class _Outside(ratewire.Law):
            name = "outside"
            gain = ratewire.option(3.0, min=0.0, max=1.0, doc="Out of range.")

    class _Named(ratewire.Law):
        name = "xcp"

        def start(self, flow: Flow) -> None:
            self.window = 1e4

    with pytest.raises(ratewire.RunError, match="another law has this name"):
        ratewire.run(LOSSY, law=_Named)


def test_mistyped_callbacks_are_refused() -> None:
    with pytest.raises(TypeError, match=r"_Akc\.on_akc is never called(.|\n)*mean `on_ack`"):

        class _Akc(ratewire.Law):
            def on_akc(self, ack: Ack) -> None: ...

    with pytest.raises(TypeError, match="mean `on_departure`"):

        class _Port(ratewire.Port):
            def on_depart(self, now: float) -> None: ...

    with pytest.raises(TypeError, match="the callbacks are on_send, on_ack, "):

        class _Strange(ratewire.Law):
            def on_zzz(self) -> None: ...


def test_an_interval_and_its_callback_come_together() -> None:
    with pytest.raises(TypeError, match="has an `interval`, but no method `on_interval`"):

        class _Silent(ratewire.Law):
            name = "silent"
            interval = "5 ms"

    class Watch(ratewire.Port):
        interval = 0.1

    with pytest.raises(TypeError, match="Watch has an `interval`, but no method `on_interval`"):

        class _SilentPort(ratewire.Law):
            name = "silent-port"
            Port = Watch

    class Timeless(Offers):
        name = "timeless-port"

        class Port(Offers.Port):
            interval = None  # type: ignore[assignment]

    with pytest.raises(ratewire.RunError, match="has a method `on_interval`, but its `interval`"):
        ratewire.run(LOSSY, law=Timeless)


def test_a_flow_may_choose_its_interval_as_it_starts() -> None:
    seen: list[float] = []

    class Chosen(NewRenoByRound):
        name = "chosen"

        def start(self, flow: Flow) -> None:
            super().start(flow)
            self.interval = 0.25  # type: ignore[assignment]

        def on_interval(self, interval: Interval) -> None:
            seen.append(interval.seconds)

    ratewire.run(LOSSY, law=Chosen)
    assert seen[1] == 0.25


def test_laws_are_checked() -> None:
    checks = {check.name: check for check in ratewire.check_law(NewRenoByRound, events=20_000)}
    assert all(checks[name].passed for name in ("wild", "headers", "options", "run"))
    assert checks["deterministic"].passed
    assert checks["equal-shares"].passed is None
    (check,) = ratewire.check_law(Huge, events=1000, only="wild")
    assert check.passed is False
    assert "`window` is 1e30 bytes, and there is no `pace`" in check.told
    broken = {check.name: check for check in ratewire.check_law(Broken, events=20_000)}
    assert broken["wild"].passed is False
    assert "what is missing" in broken["run"].told
    with pytest.raises(ratewire.SettingError, match="no law is called"):
        ratewire.check_law("xpc")
    with pytest.raises(ratewire.SettingError, match="the checks are wild, "):
        ratewire.check_law("xcp", only="tame")


def test_a_law_is_explained_with_its_options() -> None:
    text = ratewire.explain(Offers)
    assert text.startswith(str(Offers.__doc__).partition("\n")[0])
    assert "\n  fill = 0.9" in text
    assert "window" in ratewire.explain("newreno", width=40)
    assert "Options" in ratewire.explain("codel")
    with pytest.raises(ratewire.SettingError, match=r"no law or discipline .*newrenno.*newreno"):
        ratewire.explain("newrenno")
    with pytest.raises(ratewire.SettingError, match="width"):
        ratewire.explain("newreno", width=-1)


def test_the_work_of_a_port_is_measured() -> None:
    cost = ratewire.law_cost(Offers, rounds=1)
    own = ratewire.law_cost("xcp", rounds=5)
    assert cost is not None
    assert own is not None
    assert cost.least_ns > 0.0
    assert own.median_ns >= own.least_ns > 0.0
    assert ratewire.law_cost(NewReno) is None
    with pytest.raises(ratewire.SettingError, match="no law"):
        ratewire.law_cost("newrenno")
    with pytest.raises(ratewire.SettingError, match="rounds"):
        ratewire.law_cost("xcp", rounds=0)


class Stuck(Offers):
    """A law whose port fails."""

    name = "stuck-py"

    class Port(Offers.Port):
        def on_arrival(
            self, now: float, size: int, header: bytearray | None, queue: tuple[int, int]
        ) -> None:
            raise ValueError("enough")


def test_a_port_that_fails_has_no_cost() -> None:
    with pytest.raises(ratewire.SettingError, match="enough"):
        ratewire.law_cost(Stuck, rounds=1)


class Inflated(Offers):
    """Its routers add a thousandth to each offer."""

    name = "inflated"

    class Port(Offers.Port):
        def on_arrival(
            self, now: float, size: int, header: bytearray | None, queue: tuple[int, int]
        ) -> None:
            super().on_arrival(now, size, header, queue)
            if header is not None and header[8] == 0:
                (offer,) = struct.unpack(">d", header[:8])
                header[:8] = struct.pack(">d", offer * 1.001)


def test_feedback_that_a_law_makes_is_found() -> None:
    def conserved(law: type[ratewire.Law]) -> ratewire.LawCheck:
        (check,) = ratewire.check_law(law, events=20_000, only="conserved")
        return check

    assert conserved(NewReno).passed is None
    whole = conserved(Offers)
    assert whole.passed, whole.told
    broken = conserved(Inflated)
    assert broken.passed is False
    assert "a packet left with an offer of" in broken.told


def test_books_that_cannot_be_kept_are_no_promise_kept() -> None:
    class Bookless(Offers):
        name = "bookless"
        Books = 3  # type: ignore[assignment]

    (check,) = ratewire.check_law(Bookless, events=1000, only="conserved")
    assert check.passed is False
    assert "`Books` raised TypeError" in check.told


def test_a_class_without_a_name_of_its_own_is_refused() -> None:
    class Nameless(NewReno):
        pass

    with pytest.raises(TypeError, match="the law Nameless has no `name` of its own"):
        ratewire.run(LOSSY, law=[Nameless])
    with pytest.raises(TypeError, match="is no law: allowed are names and classes"):
        ratewire.run(LOSSY, law=[NewReno()])  # type: ignore[list-item]


@pytest.mark.parametrize("interval", ["5 ms", 0.005, "rtt"])
def test_intervals_are_times(interval: Any) -> None:
    class Paced(NewRenoByRound):
        name = "paced"

    Paced.interval = interval
    assert ratewire.run(LOSSY, law=Paced).summary


@pytest.mark.parametrize("interval", ["soon", "RTT", 0, -1.0, float("nan"), float("inf"), None])
def test_what_is_no_interval_is_refused(interval: Any) -> None:
    class Timeless(NewRenoByRound):
        name = "timeless"

    Timeless.interval = interval
    told = r"`start` raised ValueError: `interval` is .* and \"rtt\""
    with pytest.raises(ratewire.RunError, match=told):
        ratewire.run(LOSSY, law=Timeless)


def test_a_changed_class_is_another_law_to_a_sweep(tmp_path: Path) -> None:
    def swept(law: type[ratewire.Law]) -> list[float]:
        sweep = ratewire.sweep(LOSSY, {"bottleneck.rate": ["5M"]}, law=[law], folder=tmp_path)
        return [run["utilisation"] for run in pa.table(sweep.runs).to_pylist()]

    class Constant(ratewire.Law):
        name = "constant"

        def start(self, flow: Flow) -> None:
            self.window = 2 * flow.mss

    small = swept(Constant)

    class Constant(ratewire.Law):  # type: ignore[no-redef]
        name = "constant"

        def start(self, flow: Flow) -> None:
            self.window = 20 * flow.mss

    assert swept(Constant) != small


def test_figures_explain_a_flow() -> None:
    class Explained(NewReno):
        name = "explained"

        def figures(self) -> dict[str, float]:
            return {"threshold": 7.0}

    assert "threshold = 7" in str(ratewire.why(LOSSY, "s1->d1", "3 s", law=Explained))


def test_objects_of_a_law_do_not_stay() -> None:
    made: list[weakref.ref[ratewire.Law]] = []

    class Noted(NewReno):
        name = "noted"

        def start(self, flow: Flow) -> None:
            super().start(flow)
            made.append(weakref.ref(self))

        def on_loss(self, congestion: Congestion) -> None:
            super().on_loss(congestion)

    ratewire.run(LOSSY, law=Noted, set={"duration": "1 s"})
    gc.collect()
    assert len(made) == 2
    assert all(one() is None for one in made)


def test_a_law_in_c_is_what_its_file_holds_now(tmp_path: Path) -> None:
    root = Path(__file__).parents[2] / "crates/plugin"
    law = tmp_path / "own.so"

    def built(increase: str) -> None:
        text = (root / "laws/newreno.c").read_text()
        source = tmp_path / "own.c"
        source.write_text(text.replace("s->cwnd += s->mss;", f"s->cwnd += {increase} * s->mss;"))
        options = ["-std=c99", "-O1", "-shared", "-fPIC", f"-I{root / 'include'}"]
        subprocess.run(["cc", *options, source, "-o", law, "-lm"], check=True)

    def bytes_of(results: ratewire.Results) -> list[int]:
        flows = results.summary.runs[0].flows
        return [flow.delivered_bytes for flow in flows]

    built("1")
    first = bytes_of(ratewire.run(LOSSY, law=str(law)))
    # Scenarios name it once they know it.
    scenario = ratewire.Scenario.parse(LOSSY).knowing(str(law))
    assert bytes_of(ratewire.run(scenario.set({"law": str(law)}))) == first
    assert ratewire.Simulation(LOSSY, law=str(law)).finish().summary.runs[0].law == "newreno-c"
    built("3")
    assert bytes_of(ratewire.run(LOSSY, law=str(law))) != first


def test_a_scenario_elsewhere_finds_a_law_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(__file__).parents[2] / "crates/plugin"
    (tmp_path / "mylaw").mkdir()
    (tmp_path / "here").mkdir()
    options = ["-std=c99", "-shared", "-fPIC", f"-I{root / 'include'}"]
    law = tmp_path / "mylaw/mylaw.so"
    subprocess.run(["cc", *options, root / "laws/newreno.c", "-o", law, "-lm"], check=True)
    (tmp_path / "mylaw/scenario.toml").write_text(LOSSY.replace('"newreno"', '"./mylaw.so"'))
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(ratewire.ScenarioError, match=r"was not loaded(.|\n)*`law=`.*knowing"):
        ratewire.run("../mylaw/scenario.toml")
    file = "../mylaw/mylaw.so"
    scenario = ratewire.Scenario.load("../mylaw/scenario.toml", law=[file])
    first = ratewire.run(scenario).summary.runs[0]
    assert first.law == "newreno-c"
    assert ratewire.run("../mylaw/scenario.toml", law=file).summary.runs[0] == first
    simulation = ratewire.Simulation("../mylaw/scenario.toml", law=file)
    assert simulation.finish().summary.runs[0].law == "newreno-c"
    monkeypatch.chdir(tmp_path / "mylaw")
    with pytest.raises(ratewire.SettingError, match=r"the law in the file here is \./mylaw\.so"):
        ratewire.explain("mylaw")


def test_options_without_a_text_are_told_by_what_is_allowed() -> None:
    class Terse(NewReno):
        name = "terse"
        share = ratewire.option(0.5, min=0.0, max=1.0)

    assert "Both" not in ratewire.explain(Terse).partition("share")[2].partition("\n\n")[0]
    with pytest.raises(ratewire.ScenarioError, match="help: allowed: a number from 0 to 1"):
        ratewire.run(LOSSY, law=Terse, set={"options.terse.share": 3.0})


def test_a_simulation_takes_a_class() -> None:
    whole = ratewire.run(LOSSY, law=NewReno)
    simulation = ratewire.Simulation(LOSSY, law=NewReno)
    simulation.run_until(1)
    stepped = simulation.finish()
    assert windows(stepped, "newreno-py") == windows(whole, "newreno-py")
    with pytest.raises(TypeError, match=r"law is .*: allowed is one law"):
        ratewire.Simulation(LOSSY, law=[NewReno])  # type: ignore[arg-type]
