//! Laws whose headers the switches of ensembles cannot split and merge.

use ratewire_laws::LawSet;
use ratewire_laws::junction::Junction;
use ratewire_sim::setup::Setup;

use crate::laws::Made;

/// Says why the laws of a run do not fit its ensembles, and the remedy.
pub(super) fn refuse(setup: &Setup, made: &[Made], laws: &LawSet) -> Option<(String, String)> {
    let junctions = setup.ensembles.junctions.iter();
    let mut unfit = junctions.filter_map(|junction| {
        let flow = junction.peer.inbound.or(junction.peer.outbound)?;
        let one = made.get(setup.flows[flow as usize].law)?;
        match one.law.junction() {
            Junction::Refuses(why) => Some((&junction.name, &one.name, why)),
            _ => None,
        }
    });
    let (ensemble, law, why) = unfit.next()?;
    let divisible = laws.list().filter_map(|info| {
        let law = laws.make(info.name, &[]).ok()?;
        matches!(law.junction(), Junction::Changes | Junction::Rates).then_some(info.name)
    });
    let divisible: Vec<&str> = divisible.collect();
    let message = format!("{law} cannot run the ensemble {ensemble:?}: {why}");
    let known = divisible.join(", ");
    Some((message, format!("laws that can: {known}, and those without a congestion header")))
}
