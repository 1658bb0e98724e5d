//! A shell at a host, on the caller's terminal.

use std::fmt::Write as _;

use ratewire_net::spec::NodeId;
use ratewire_sim::setup::Setup;

use crate::host::Host;

/// A shell at a host.
#[derive(Clone, Copy, Debug)]
pub struct Shell {
    /// The host.
    pub host: NodeId,
    /// Whether the scenario's flows and programs are left out, of which nothing is reported then.
    pub is_alone: bool,
}

impl Shell {
    /// The text that a shell at the host called `own` begins with.
    pub(crate) fn greeting(self, setup: &Setup, hosts: &[Host], own: &str) -> String {
        let mut text = String::from("Hosts, by which names they reach each other:\n");
        for other in hosts {
            let (name, address) = (&other.spec.name, other.spec.address);
            let enter = format!("nsenter --target {} --net --mount", other.thread);
            let _ = writeln!(text, "  {name:<12} {address:<15} from another terminal: {enter}");
        }
        text += "Their /tmp and /var/tmp are their own, and gone with the run.\n";
        text += &self.company(setup);
        let _ = writeln!(text, "This is {own}; the run ends when you leave it.");
        text
    }

    /// Other users of the network beside a shell, and how to be without them.
    fn company(self, setup: &Setup) -> String {
        if self.is_alone {
            return "Nothing of the scenario runs beside it.\n".to_string();
        }
        let others = setup.programs.iter().filter(|program| program.flow.is_none()).count();
        let counted = |(n, what): (usize, &str)| match n {
            0 => None,
            1 => Some(format!("1 {what}")),
            n => Some(format!("{n} {what}s")),
        };
        let all =
            [(setup.flows.len(), "flow"), (others, "program")].into_iter().filter_map(counted);
        let all: Vec<String> = all.collect();
        if all.is_empty() {
            return String::new();
        }
        let all = all.join(" and ");
        format!(
            "Beside it, each at its time: {all} of the scenario. `ratewire shell --alone` is without.\n"
        )
    }
}
