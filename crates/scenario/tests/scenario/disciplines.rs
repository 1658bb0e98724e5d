//! Queue disciplines as scenarios write them.

use ratewire_net::queue::{AnyDiscipline, list};
use ratewire_units::Bytes;

use crate::common::{dumbbell, flow, refused, setup};

fn with(discipline: &str) -> String {
    let delay = "delay = \"20 ms\"";
    dumbbell(flow()).replace(delay, &format!("{delay}, discipline = {discipline}"))
}

#[test]
fn mistakes_in_options_are_reported_with_what_is_allowed() {
    for (discipline, message) in [
        ("{ pie = { update = \"0 s\" } }", "`update` of PIE must be 1 us or more"),
        ("{ codel = { interval = \"0 s\" } }", "the interval of CoDel must be above 0"),
        ("{ red = { min = \"9 packets\", max = \"9 packets\" } }", "must be below `max`"),
        ("{ fq-codel = { flows = 0 } }", "allowed: a whole number from 1 to 65536"),
        ("{ fq-codel = { quantum = \"1 B\" } }", "`quantum` of FQ-CoDel must be 64 B or more"),
        ("{ pie = { alpha = \"fast\" } }", "`alpha` cannot be \"fast\""),
        ("{ dualpi2 = { targte = \"5 ms\" } }", "did you mean `target`?"),
        ("{ red = {}, codel = {} }", "`discipline` cannot be a table"),
        ("{ red = 7 }", "`discipline` cannot be the number 7"),
        ("\"codle\"", "did you mean `codel`?"),
        ("7", "or { NAME = { ... } } with options"),
    ] {
        let said = refused(&with(discipline));
        assert!(said.contains(message), "{discipline}: {said}");
        assert_eq!(said.matches("error: ").count(), 1, "{discipline}: {said}");
    }
}

#[test]
fn every_discipline_can_be_named_with_and_without_options() {
    for info in list() {
        for written in [format!("{:?}", info.name), format!("{{ {} = {{}} }}", info.name)] {
            let setup = setup(&with(&written));
            let found = setup.network.links.iter().find(|link| link.name == "bottleneck").unwrap();
            let made = AnyDiscipline::new(info.name, &[], Bytes::new(1500)).unwrap();
            assert_eq!(format!("{:?}", found.discipline), format!("{made:?}"));
        }
    }
}
