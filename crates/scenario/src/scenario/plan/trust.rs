//! Checks that lies and policers have an effect under the laws of a run.

use std::collections::BTreeSet;

use ratewire_laws::trust::Lie;
use ratewire_sim::setup::Setup;

use crate::diagnostic::Diagnostic;
use crate::laws::Made;

/// Warns of lies that a law's headers cannot express, of policers that cannot police, and of honest
/// senders that a policer would limit.
pub(super) fn check(file: &str, setup: &Setup, made: &[Made], warnings: &mut Vec<Diagnostic>) {
    warn_of_idle_lies(file, setup, made, warnings);
    let mut policed = BTreeSet::new();
    let mut warned = BTreeSet::new();
    for link in setup.network.links.iter().filter(|link| link.police.is_some()) {
        let Some((at, Made { law, name, .. })) = link.law.and_then(|at| Some((at, made.get(at)?)))
        else {
            continue;
        };
        let Some(why) = law.unpoliced() else {
            policed.insert(law.info().name);
            continue;
        };
        if warned.insert(at) {
            let message =
                format!("the link {:?} is policed, but {name} cannot be: {why}", link.name);
            warnings.push(Diagnostic::warning(file, message, "the policer lets everything pass"));
        }
    }
    // This check does not compute routes, so the sender may not pass a policer.
    let flows = setup.flows.iter().map(|flow| (&flow.name, flow.law));
    let classes = setup.traffic.iter().map(|class| (&class.name, class.law));
    for (sender, at) in flows.chain(classes) {
        let Made { law, name, .. } = &made[at];
        let why = law.unpoliced().filter(|_| policed.contains(law.info().name));
        if let Some(why) = why.filter(|_| warned.insert(at)) {
            let message = format!("{sender:?} uses {name}, whose ports are policed: {why}");
            let help = "a policer on its route limits it to less than its share";
            warnings.push(Diagnostic::warning(file, message, help));
        }
    }
}

/// Warns once for each law and key, however many flows have that lie.
fn warn_of_idle_lies(file: &str, setup: &Setup, made: &[Made], warnings: &mut Vec<Diagnostic>) {
    let mut warned = BTreeSet::new();
    for flow in &setup.flows {
        let Some(lie) = &flow.lie else { continue };
        let Made { law, name, .. } = &made[flow.law];
        for key in keys_of(lie).filter(|key| !law.lies().contains(key)) {
            if !warned.insert((name, key)) {
                continue;
            }
            let message = format!(
                "{:?} lies about `{key}`, which headers of {name} do not carry: the lie has no effect",
                flow.name
            );
            let help = match law.lies() {
                [] => format!("under {name} no lie has an effect"),
                lies => format!("lies that have an effect under {name}: {}", lies.join(", ")),
            };
            warnings.push(Diagnostic::warning(file, message, help));
        }
    }
}

/// The keys of `lie` whose values differ from an honest flow's.
fn keys_of(lie: &Lie) -> impl Iterator<Item = &'static str> {
    let honest = Lie::default();
    [
        ("rtt", lie.rtt != honest.rtt),
        ("throughput", lie.throughput != honest.throughput),
        ("ignore_feedback", lie.ignore_feedback),
        ("inflate", lie.inflate != honest.inflate),
    ]
    .into_iter()
    .filter_map(|(key, lies)| lies.then_some(key))
}
