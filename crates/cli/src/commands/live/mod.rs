//! `ratewire live`: laws in the running kernel.

mod noq;
mod set;
mod status;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Subcommand, ValueEnum};
use ratewire_command_line::{Exit, print};
use ratewire_laws::Named;
use ratewire_laws::kernel::{JetmaxKernel, PiqiRcpKernel, RcpKernel, XcpKernel, XcpRules};
use ratewire_laws::options::{Options, Part};
use ratewire_live::host::Lie;
use ratewire_live::router::Police;
use ratewire_live::{Error, KernelLaw, host, router};
use ratewire_units::Rate;
use ratewire_units::quantity::QuantityError;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Let TCP connections of this machine, or of a cgroup, send at the rate that routers allow
    Host {
        /// The law
        #[arg(long, value_parser = law(&KernelLaw::ALL))]
        law: String,
        /// Only connections of this cgroup: a folder of the cgroup2 file system
        #[arg(long)]
        cgroup: Option<PathBuf>,
        /// Only connections from the current addresses of this interface
        #[arg(long)]
        iface: Option<String>,
        /// Highest rate that a connection requests from routers; under noq, the rate at which it
        /// sends
        #[arg(long, default_value = "100 Gbit/s", value_parser = rate)]
        desired: Rate,
        /// Only for xcp: an option of senders, as `ratewire explain xcp@kernel` lists them
        #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
        options: Vec<(String, String)>,
        /// For tests of policers: what connections at a port state falsely, as port=5201 with any
        /// of rtt=25, throughput=0.25, inflate=4 (factors) and ignore_feedback=true
        #[arg(long, value_name = "NAME=VALUE,...", hide = true, value_parser = set::lie)]
        lie: Option<Lie>,
        /// Only for noq: where connections use it [default: safe]
        #[arg(long, value_enum)]
        mode: Option<Mode>,
    },
    /// Attach a law's port to the egress of an interface
    Router {
        /// The interface
        #[arg(long)]
        iface: String,
        /// The law; noq runs until Ctrl-C, the others stay after the command
        #[arg(long, value_parser = law(&KernelLaw::ALL))]
        law: String,
        /// Rate to share out: a little less than the bottleneck's rate, link-layer headers
        /// included; or "measured", for the rate at which packets leave while some wait. For noq:
        /// rate of links, in whose bit times frames count [default for noq: each interface's speed]
        #[arg(long, value_parser = capacity, required_if_eq_any = OF_ROUTERS.map(|law| ("law", law)))]
        capacity: Option<Capacity>,
        /// Queue that the law reads
        #[arg(long, value_enum, default_value_t = Queue::Backlog)]
        queue: Queue,
        /// An option of the law's port, as `ratewire explain LAW@kernel` lists them
        #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
        options: Vec<(String, String)>,
        #[command(flatten)]
        noq: noq::Args,
        /// Hold senders to what their packets claim and to what the port granted; with
        /// suspects=1024 (most flows watched at once) and tolerance=0.05 unless given
        #[arg(long, value_name = "NAME=VALUE,...", num_args = 0..=1, default_missing_value = "", value_parser = set::police)]
        police: Option<Police>,
    },
    /// Show what is attached, and its state
    Status {
        /// Format of the output
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
        /// Repeat every so many seconds (1 if not given) until Ctrl-C
        #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1", value_parser = every)]
        watch: Option<Duration>,
    },
    /// Wait for the end of the input, and let a queue go whose port of noq was killed
    #[command(hide = true)]
    Guard {
        /// Interface of the port
        #[arg(long)]
        iface: String,
    },
    /// Look which interfaces pause, for `host --law noq --mode safe`, until it is detached
    #[command(hide = true)]
    WatchPauses,
    /// Detach everything from this machine and from the interfaces of this network namespace
    Detach {
        /// Detach only the port at this interface
        #[arg(long, conflicts_with = "hosts")]
        iface: Option<String>,
        /// Detach only laws of connections, and no ports
        #[arg(long)]
        hosts: bool,
    },
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Mode {
    /// Only while the connection's own interface is paused when the buffer behind it is full
    Safe,
    /// Everywhere
    Force,
}

#[derive(Clone, Copy, ValueEnum)]
enum Queue {
    /// The backlog of the interface's queueing discipline
    Backlog,
    /// A computed backlog, for an interface without a queue of its own
    Virtual,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Table,
    Json,
    /// Text file for Prometheus' node exporter
    Prometheus,
}

/// Laws whose ports need a capacity.
const OF_ROUTERS: [&str; 4] = {
    let [a, b, c, d] = KernelLaw::OF_ROUTERS;
    [a.name(), b.name(), c.name(), d.name()]
};

fn law(laws: &[KernelLaw]) -> PossibleValuesParser {
    PossibleValuesParser::new(laws.iter().map(|law| law.name()))
}

/// A rate as elsewhere in Ratewire, or as `tc` writes it.
fn rate(text: &str) -> Result<Rate, String> {
    let of_tc = [("kbit", "kbit/s"), ("mbit", "Mbit/s"), ("gbit", "Gbit/s")];
    let number =
        |(suffix, unit): (&str, &str)| Some(format!("{}{unit}", text.strip_suffix(suffix)?));
    let rate: Rate = of_tc
        .into_iter()
        .find_map(number)
        .as_deref()
        .unwrap_or(text)
        .parse()
        .map_err(|e: QuantityError| e.to_string())?;
    let most = Rate::from_mbps(549_000);
    // The kernel's laws count whole bytes a second.
    let least = Rate::from_bps(1_000);
    if rate < least || rate > most {
        return Err(format!("allowed: from {least} to {most}"));
    }
    Ok(rate)
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("not NAME=VALUE: there is no `=`")?;
    Ok((name.trim().to_string(), value.trim().to_string()))
}

/// What senders do with these options.
fn rules(law: KernelLaw, options: &[(String, String)]) -> Result<XcpRules, String> {
    match law {
        _ if options.is_empty() => Ok(XcpRules::default()),
        KernelLaw::Xcp => Ok(given::<XcpKernel>(options, Part::Source)?.rules()),
        _ => Err(format!("senders of {} have no options; those of xcp have", law.name())),
    }
}

/// What a port is set to by these options.
fn port(law: KernelLaw, options: &[(String, String)]) -> Result<router::Law, String> {
    let of = Part::Port;
    Ok(match law {
        KernelLaw::Xcp => router::Law::Xcp(given::<XcpKernel>(options, of)?.constants()),
        KernelLaw::Rcp => router::Law::Rcp(given::<RcpKernel>(options, of)?.constants()),
        KernelLaw::PiqiRcp => {
            router::Law::PiqiRcp(given::<PiqiRcpKernel>(options, of)?.constants())
        }
        KernelLaw::Jetmax => router::Law::Jetmax(given::<JetmaxKernel>(options, of)?.constants()),
        KernelLaw::Noq => return Err("ports of noq have no options".to_string()),
    })
}

/// A law with these options, all of which are to be of one part.
fn given<L: Named>(options: &[(String, String)], part: Part) -> Result<L, String> {
    for (name, _) in options {
        if ["desired", "capacity"].contains(&&**name) {
            return Err(format!("`{name}` is the flag --{name}, of hosts or of routers"));
        }
        let other = L::INFO.options.iter().find(|spec| spec.name == name && spec.part != part);
        if other.is_some() {
            let ends = if part == Part::Port { "hosts" } else { "routers" };
            return Err(format!("`{name}` is an option of {ends}"));
        }
    }
    let options: Vec<_> = options.iter().map(|(name, value)| (&**name, &**value)).collect();
    let options = Options::given(L::INFO.options, &options).map_err(|e| e.to_string())?;
    L::from_options(&options).map_err(|e| e.to_string())
}

fn wrong_option(wrong: &str, law: KernelLaw) -> Exit {
    let remedy = format!("`ratewire explain {}@kernel` lists options", law.name());
    self::wrong(&format!("--option: {wrong}"), &remedy)
}

fn wrong(what: &str, remedy: &str) -> Exit {
    print_stderr!("ratewire: {what}");
    print_stderr!("  help: {remedy}");
    Exit::Wrong
}

/// Parses the interval of `--watch`.
fn every(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    let seconds = seconds.ok_or("allowed: 0.1 to 3600 seconds")?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Rate that a port shares out.
#[derive(Clone, Copy)]
enum Capacity {
    Given(Rate),
    Measured,
}

fn capacity(text: &str) -> Result<Capacity, String> {
    match text {
        "measured" => Ok(Capacity::Measured),
        _ => rate(text).map(Capacity::Given).map_err(|e| format!("{e}, or \"measured\"")),
    }
}

fn named(law: &str) -> KernelLaw {
    KernelLaw::named(law).expect("the parser lets no other pass")
}

pub(crate) fn live(args: &Args) -> Exit {
    let done = match &args.command {
        Command::Host { law, cgroup, iface, desired, options, lie, mode } => {
            let law = named(law);
            let xcp = match rules(law, options) {
                Ok(rules) => rules,
                Err(wrong) => return wrong_option(&wrong, KernelLaw::Xcp),
            };
            if law != KernelLaw::Noq && mode.is_some() {
                let what = format!("--mode is only for noq, not for {}", law.name());
                return wrong(&what, "leave --mode out, or use --law noq");
            }
            let is_forced = *mode == Some(Mode::Force);
            let spec = host::Spec {
                law,
                cgroup: cgroup.clone(),
                iface: iface.clone(),
                desired: *desired,
                xcp,
                is_forced,
                lie: *lie,
            };
            let who = iface.as_ref().map_or_else(
                || "connections".to_string(),
                |iface| format!("connections from the addresses of {iface}"),
            );
            let attached = host::attach(&spec, ratewire_emulate::running_in);
            let is_watched = attached.is_ok() && law == KernelLaw::Noq && !is_forced;
            if is_watched && let Err(e) = noq::watch_pauses() {
                let _ = host::detach();
                print_stderr!("ratewire: no process can be started that watches pauses: {e}");
                print_stderr!("  help: nothing stays attached; try again, or take --mode force");
                return Exit::Unable;
            }
            attached.map(|()| {
                let (name, control) = (law.name(), law.control());
                match law {
                    KernelLaw::Noq if is_forced => format!("{who} from now on send by {control}\n"),
                    KernelLaw::Noq => format!(
                        "{who} from now on send by {control} while their own interface is paused\n"
                    ),
                    _ => format!(
                        "{who} from now on offer {name}; those whose other end does too send by {control}\n"
                    ),
                }
            })
        }
        Command::Router { iface, law, capacity, queue, options, police, noq }
            if named(law) == KernelLaw::Noq =>
        {
            return match (capacity, queue) {
                _ if !options.is_empty() => wrong("ports of noq have no --option", "leave it out"),
                _ if police.is_some() => {
                    wrong("noq has no headers to police", "leave --police out")
                }
                (Some(Capacity::Measured), _) => {
                    wrong("noq measures no capacity", "give the rate of links, or leave it out")
                }
                (_, Queue::Virtual) => wrong(
                    "noq pauses by the queue that there is, not by a virtual one",
                    "give the interface a queue (tbf), or run the port at the one that has it",
                ),
                (None, Queue::Backlog) => noq::run(noq, iface, None),
                (Some(Capacity::Given(rate)), Queue::Backlog) => noq::run(noq, iface, Some(*rate)),
            };
        }
        Command::Router { iface, law, capacity, queue, options, police, noq } => {
            if let Some(flag) = noq.given() {
                let what = format!("{flag} is only for noq, not for {law}");
                return wrong(&what, &format!("leave {flag} out, or use --law noq"));
            }
            let set = match port(named(law), options) {
                Ok(set) => set,
                Err(wrong) => return wrong_option(&wrong, named(law)),
            };
            let (capacity, what) = match capacity.expect("the parser asks for it") {
                Capacity::Given(rate) => (router::Capacity::Given(rate), rate.to_string()),
                Capacity::Measured => (router::Capacity::Measured, "what it measures".to_string()),
            };
            let queue = match queue {
                Queue::Backlog => router::Queue::Backlog,
                Queue::Virtual => router::Queue::Virtual,
            };
            let spec =
                router::Spec { iface: iface.clone(), law: set, capacity, queue, police: *police };
            router::attach(&spec).map(|()| {
                format!("{law} shares out {what} at {iface}; `ratewire live status` watches it\n")
            })
        }
        Command::Status { format, watch: Some(every) } => return status::watch(*format, *every),
        Command::Status { format, watch: None } => status::status(*format),
        Command::Guard { iface } => noq::guard(iface).map(|()| String::new()),
        Command::WatchPauses => host::watch().map(|()| String::new()),
        Command::Detach { iface, hosts } => detach(iface.as_deref(), *hosts),
    };
    match done {
        Ok(text) => print(&text),
        Err(e) => unable(&e),
    }
}

fn unable(e: &Error) -> Exit {
    print_stderr!("ratewire: {e}");
    Exit::Unable
}

fn detach(iface: Option<&str>, only_hosts: bool) -> Result<String, Error> {
    let mut detached = if only_hosts { Vec::new() } else { router::detach(iface)? };
    if !only_hosts {
        let ended = ratewire_live::noq::detach(iface)?;
        detached.extend(ended.into_iter().map(|iface| format!("{iface} (noq)")));
    }
    if iface.is_none() {
        detached.extend(host::detach()?.into_iter().map(str::to_string));
    }
    Ok(match detached.as_slice() {
        [] => "nothing was attached\n".to_string(),
        some => format!("detached: {}\n", some.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_would_be_none_is_refused() {
        for text in ["1bps", "0", "999 bit/s"] {
            assert!(capacity(text).is_err(), "{text}");
        }
        let said = capacity("1bps").err().expect("it is none");
        assert_eq!(said, "allowed: from 1 kbit/s to 549 Gbit/s, or \"measured\"");
        assert!(matches!(capacity("1 kbit/s"), Ok(Capacity::Given(_))));
        assert!(matches!(capacity("measured"), Ok(Capacity::Measured)));
    }
}
