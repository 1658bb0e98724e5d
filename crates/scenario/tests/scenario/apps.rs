//! What sending applications write: random bursts, and phases.

use ratewire_sim::setup::Setup;
use ratewire_transport::{PauseAfter, Seeds, Spread, Varying, Writer};
use ratewire_units::{Bytes, Duration, Rate};

use crate::common::{dumbbell, flow, refused, setup, warned};

fn app(app: &str) -> String {
    dumbbell(&format!("{}app = {app}\n", flow()))
}

fn seeds(setup: &Setup, seed: u64) -> Vec<Seeds> {
    setup.flows.iter().map(|flow| flow.app(seed).seeds).collect()
}

#[test]
fn bursts_and_pauses_may_each_be_random() {
    let text = app("{ on_off = { burst = { exponential = \"10 packets\" }, pause = \"1 s\", \
         pause_after = \"sent\" } }");
    let one = setup(&text);
    let wanted = Writer::OnOff {
        burst: Varying { mean: Bytes::new(14_600), spread: Spread::Exponential },
        pause: Duration::from_secs(1).into(),
        pause_after: PauseAfter::Sent,
        count: None,
    };
    assert_eq!(one.flows[0].app.writer, wanted);
    assert!(one.has_chance());
    let pause = app(
        "{ on_off = { burst = \"1 MB\", pause = { pareto = { shape = 2.5, mean = \"1 s\" } } } }",
    );
    let Writer::OnOff { burst, pause, .. } = setup(&pause).flows[0].app.writer else { panic!() };
    assert_eq!((burst.spread, pause.spread), (Spread::None, Spread::Pareto(2.5)));
}

/// Draws depend on the seed and the flow's name: another flow before it changes nothing.
#[test]
fn each_flow_draws_from_streams_of_its_own() {
    let random = "app = { on_off = { burst = { exponential = \"50 KB\" }, pause = \"1 s\" } }\n";
    let mine = format!("[[flow]]\nname = \"mine\"\nfrom = \"s1\"\nto = \"d1\"\n{random}");
    let other = mine.replace("mine", "other");
    let alone = setup(&dumbbell(&mine));
    let both = setup(&dumbbell(&format!("{other}{mine}")));
    assert_eq!(seeds(&alone, 1)[0], seeds(&both, 1)[1]);
    assert_ne!(seeds(&both, 1)[0], seeds(&both, 1)[1]);
    assert_ne!(seeds(&alone, 1), seeds(&alone, 2));
    let drawn = seeds(&alone, 1)[0];
    assert_ne!(drawn.bursts, drawn.pauses);
}

#[test]
fn phases_follow_each_other() {
    let text =
        app("{ phases = [{ app = { constant = { rate = \"100 kbit/s\" } }, lasts = \"2 s\" }, \
         { app = \"silent\", lasts = \"1 s\" }, { size = \"10 packets\", lasts = \"1 s\" }, {}] }");
    let setup = setup(&text);
    let Writer::Phases(phases) = &setup.flows[0].app.writer else { panic!() };
    let writers: Vec<_> = phases.iter().map(|phase| phase.writer.clone()).collect();
    let constant = |kbps: u64| Writer::Constant { rate: Rate::from_bps(kbps * 1000) };
    let wanted = [constant(100), constant(0), Writer::Sized(Bytes::new(14_600)), Writer::Unlimited];
    assert_eq!(writers, wanted);
    assert!(setup.flows[0].app.writer.is_endless());
    assert!(!setup.flows[0].app.writer.has_chance());
}

#[test]
fn what_cannot_be_written_is_refused() {
    let phases = |list: &str| refused(&app(&format!("{{ phases = {list} }}")));
    let endless = phases("[{}, { app = \"silent\" }]");
    assert!(endless.contains("phase 1 of `app` has no end, and another follows"), "{endless}");
    assert!(endless.contains("say how long it `lasts`"), "{endless}");
    assert!(phases("[]").contains("`phases` cannot have 0 entries"));
    assert!(phases("[{ lasts = \"0 s\" }, {}]").contains("a phase cannot last 0 s"));
    assert!(phases("[{ size = \"1 B\", app = \"silent\" }]").contains("exclude each other"));
    let never = phases("[{ app = \"silent\", lasts = \"0 s\" }, { app = \"silent\" }]");
    assert!(never.contains("cannot last 0 s") && !never.contains("means nothing"), "{never}");
    assert!(phases("[{ app = { phases = [{}] } }]").contains("phases cannot stand in a phase"));
    assert!(phases("[\"silent\"]").contains("`app` cannot be"));
    assert!(phases("[{ laps = 3 }]").contains("unknown key `laps` in phase 1 of `app`"));
    let on_off = |burst: &str, more: &str| {
        refused(&app(&format!("{{ on_off = {{ burst = {burst}{more} }} }}")))
    };
    let both = "{ exponential = \"1 KB\", pareto = { shape = 2, mean = \"1 KB\" } }";
    assert!(on_off(both, ", pause = \"1 s\"").contains("`burst`"));
    assert!(
        on_off("{ exponential = \"0 B\" }", ", pause = \"1 s\"").contains("a burst of nothing")
    );
    assert!(on_off("{ normal = \"1 B\" }", ", pause = \"1 s\"").contains("normal"));
    let for_ever = ", pause = { exponential = \"1 ps\" }, pause_after = \"written\"";
    assert!(on_off("\"1 B\"", for_ever).contains("it would write about"));
    // Nearly all pauses of so heavy a tail are a millionth of the mean.
    let heavy = ", pause = { pareto = { shape = 1.000001, mean = \"10 us\" } }, \
                 pause_after = \"written\"";
    assert!(on_off("\"1 B\"", heavy).contains("it would write about"));
    let shape = "{ pareto = { shape = 1, mean = \"1 KB\" } }";
    assert!(on_off(shape, ", pause = \"1 s\"").contains("shape"));
}

#[test]
fn a_phase_after_the_end_of_the_run_is_warned_of() {
    let said = warned(&app("{ phases = [{ lasts = \"20 s\" }, { app = \"silent\" }] }"));
    assert!(said.contains("phase 2 of `app` never begins"), "{said}");
}
