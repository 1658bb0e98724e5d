//! A run from start to end: sets up hosts, flows and programs, runs the network between them, and
//! takes everything down.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, Thread};

use ratewire_net::spec::NodeId;
use ratewire_sim::outcome::Outcome;
use ratewire_sim::overlay::spec::OverlaySpec;
use ratewire_sim::record::Recorder;
use ratewire_sim::setup::{FlowSpec, ProgramSpec, Setup};
use ratewire_units::{Bytes, Time};

use crate::acp::Acp;
use crate::clock::{Clock, FOR_EVER};
use crate::commands::Launch;
use crate::control::{CongestionControl, control, of_flow};
use crate::daemons::{self, GROUPS, SWITCH};
use crate::dialect::{self, Dialects};
use crate::fidelity::Fidelity;
use crate::flow::{FlowSockets, Flows};
use crate::handoff::Handoff;
use crate::host::{self, Host};
use crate::lateness::Lateness;
use crate::laws::Laws;
use crate::overlay::Overlay;
use crate::program::{Program, Role};
use crate::shell::Shell;
use crate::user::Users;
use crate::world::World;
use crate::{Error, acp, arriving, check, host_probe, names, parts, sys};

/// Time for servers to start before anything is sent.
const HEAD_START: std::time::Duration = std::time::Duration::from_millis(300);

/// Options that are not the scenario's.
#[derive(Clone, Debug, Default)]
pub struct EmulationOptions {
    /// Folder of programs' outputs, a file each.
    pub logs: Option<PathBuf>,
    /// A shell on this process's terminal; the run ends with it.
    pub shell: Option<Shell>,
    /// Users that programs may run as.
    pub users: Users,
}

/// Result of an emulated run.
#[derive(Debug)]
pub struct Emulated {
    /// Outcome as of a simulated run.
    pub outcome: Outcome,
    /// Fidelity to time.
    pub fidelity: Fidelity,
    /// Ends of programs, in the order of the scenario.
    pub programs: Vec<ProgramEnd>,
    /// Flows that failed, and why.
    pub failed: Vec<(String, String)>,
    /// Hosts whose programs send under another congestion control than the scenario's unless they
    /// choose: the host's name, the actual and the intended one.
    pub under_another: Vec<(String, String, &'static str)>,
    /// Exit status of the shell, if there was one.
    pub shell: Option<ExitStatus>,
}

/// End of a program.
#[derive(Clone, Debug)]
pub struct ProgramEnd {
    /// The host's name.
    pub host: String,
    /// Command.
    pub run: String,
    /// Name of the program's user.
    pub user: String,
    /// Whether the program ended well, ended badly, or was ended with the run (`None`).
    pub well: Option<bool>,
    /// File of the program's output.
    pub log: Option<PathBuf>,
}

/// Runs a setup in real time. Nothing of it stays, whatever happens.
///
/// # Errors
/// If the setup has something that real hosts cannot do, the system refuses, or packets are not
/// conserved.
pub fn run(
    setup: &Setup,
    options: &EmulationOptions,
    recorder: &mut dyn Recorder,
) -> Result<Emulated, Error> {
    let (mut listed, classes) = arriving::listed(setup);
    dialect::adapt(&mut listed.laws);
    let is_alone = options.shell.is_some_and(|shell| shell.is_alone);
    if is_alone {
        listed.programs.clear();
    }
    let setup = &listed;
    check::check_network(setup)?;
    check::check_names(setup, options.shell)?;
    if !is_alone {
        check::check_flows(setup)?;
    }
    for program in &setup.programs {
        options.users.get(program.user.as_deref())?;
    }
    raise_limits(files_of(setup, is_alone, parts::hosts(setup, options.shell).len()))?;
    sys::keep_files()
        .map_err(|e| Error::new("cannot read /proc/self/fd", "mount /proc").because(e))?;
    let laws = Laws::load(setup, options.shell)?;
    let hosts = hosts(setup, options)?;
    let ends = match is_alone {
        true => setup.flows.iter().map(|_| None).collect(),
        false => open_flows(setup, &laws, &hosts)?,
    };
    let overlay = match &setup.overlay {
        Some(spec) if !is_alone => Some(start_overlay(setup, spec, &laws, &hosts, options)?),
        _ => None,
    };
    let acp = match acp::is_used(setup) && !is_alone {
        true => Some(Acp::start(setup, &hosts, launch(SWITCH, options, None)?)?),
        false => None,
    };
    let programs = Mutex::new(Vec::new());
    for spec in setup.programs.iter().filter(|spec| spec.start.is_none()) {
        start_program(setup, &laws, &hosts, spec, options, &programs)?;
    }
    if setup.programs.iter().any(|spec| spec.start.is_none()) {
        thread::sleep(HEAD_START);
    }
    let probes = host_probe::open(&hosts)?;
    let clock = Clock::start();
    let of_acp = acp.as_ref().map(Acp::flows).unwrap_or_default();
    let flows = Flows::start(ends, &of_acp, setup, clock)?;
    let handoff = Handoff::new(setup);
    let dialects = Dialects::of(parts::port_laws(setup).map(|law| &setup.laws[law]));
    let reporter = handoff.reporter();
    let mut world = World::new(setup, &classes, &hosts, flows.all(), dialects, clock, reporter)?;
    if is_alone {
        world.report_no_flows();
    }
    let over = &AtomicBool::new(false);
    let mut shell = options.shell.map(|at| open_shell(setup, &laws, &hosts, at)).transpose()?;
    let mut seen = None;
    let mut failed = Vec::new();
    let mut of_hosts = Lateness::default();
    if let Some(acp) = &acp {
        acp.begin(clock)?;
    }
    let finished = thread::scope(|scope| {
        let of_acp = acp.as_ref().map(|acp| scope.spawn(move || acp.follow(clock, over)));
        let followed = overlay.as_ref();
        let followed = followed.map(|overlay| scope.spawn(move || overlay.follow(clock, over)));
        let probes: Vec<_> = probes
            .iter()
            .map(|socket| scope.spawn(|| host_probe::watch(socket, hosts.len(), clock, over)))
            .collect();
        let starter =
            scope.spawn(|| start_later(setup, &laws, &hosts, options, &programs, clock, over));
        // Also if the recorder panics: no further program may start.
        let over = Over(over, starter.thread().clone());
        let network = scope.spawn(|| world.run(shell.as_mut(), end_of_run(setup, options)));
        // After a break the network has ended early, and its outcome says when.
        handoff.listen(recorder);
        let finished = network.join();
        drop(over);
        let started = starter.join().unwrap_or(Ok(()));
        let followed = followed.map(|thread| thread.join().unwrap_or_else(|e| resume_unwind(e)));
        let of_acp = of_acp.map(|thread| thread.join().unwrap_or_else(|e| resume_unwind(e)));
        for probe in probes {
            of_hosts.add(&probe.join().unwrap_or_else(|e| resume_unwind(e)));
        }
        let finished = finished.unwrap_or_else(|panic| resume_unwind(panic))?;
        seen = followed.transpose()?;
        failed.extend(of_acp.transpose()?.into_iter().flatten());
        started.map(|()| finished)
    });
    let of_flows = setup.flows.iter().zip(flows.all());
    failed.extend(
        of_flows
            .filter_map(|(spec, flow)| Some((spec.name.clone(), flow.as_ref()?.failed()?.into()))),
    );
    flows.end()?;
    let mut programs = programs.into_inner().unwrap_or_default();
    let mut failed_programs = 0;
    for program in programs.iter_mut().filter(|program| program.makes_flow) {
        failed_programs += u64::from(program.ended().is_some_and(|status| !status.success()));
    }
    let programs: Vec<ProgramEnd> = programs.iter_mut().map(end_of).collect();
    let (mut outcome, mut fidelity) = finished?;
    if let Some(seen) = seen {
        seen.samples.iter().for_each(|sample| sample.record(recorder));
        outcome.overlay = Some(seen.outcome);
        failed.extend(seen.failed);
    }
    fidelity.hosts = of_hosts;
    fidelity.failed_flows = failed.len() as u64 + failed_programs;
    [fidelity.plain, fidelity.refused, fidelity.chose_another] = laws.left_out();
    fidelity.is_empty = fidelity.packets.count == 0 && options.shell.is_none() && is_to_send(setup);
    let under_another = hosts.iter().filter_map(|host| sends_under_another(setup, host)).collect();
    let shell = shell.as_mut().and_then(Program::ended);
    Host::end(hosts);
    Ok(Emulated { outcome, fidelity, programs, failed, under_another, shell })
}

/// Starts an overlay, and lets its daemons link up over the network before the run.
fn start_overlay<'a>(
    setup: &'a Setup,
    spec: &'a OverlaySpec,
    laws: &Laws,
    hosts: &'a [Host],
    options: &'a EmulationOptions,
) -> Result<Overlay<'a>, Error> {
    let group = group(setup, laws, spec.links.first().map(|link| link.flow));
    let launch = launch(GROUPS, options, group)?;
    let overlay = Overlay::start(setup, spec, hosts, launch)?;
    overlay.link_up(setup, hosts)?;
    Ok(overlay)
}

/// How processes of one of Ratewire's programs are started.
fn launch<'a>(
    program: &str,
    options: &'a EmulationOptions,
    group: Option<&Path>,
) -> Result<Launch<'a>, Error> {
    Ok(Launch {
        program: daemons::program(program)?,
        user: options.users.get(None)?,
        logs: options.logs.clone(),
        group: group.map(Path::to_path_buf),
    })
}

/// Keeps further programs from starting once it is dropped.
struct Over<'a>(&'a AtomicBool, Thread);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
        self.1.unpark();
    }
}

/// Whether a setup is to send anything before its end: a flow, or a program, whose actions are
/// unknown.
fn is_to_send(setup: &Setup) -> bool {
    let end = Time::ZERO + setup.duration;
    let has_time = |flow: &FlowSpec| flow.start < flow.stop.unwrap_or(end).min(end);
    setup.flows.iter().any(has_time)
        || setup.programs.iter().any(|program| program.start.is_none_or(|start| start < end))
}

/// A host whose programs send under another congestion control than the flow's law unless they
/// choose that by name: the host's name, the actual and the intended congestion control.
fn sends_under_another(setup: &Setup, host: &Host) -> Option<(String, String, &'static str)> {
    let wanted = host.spec.control.filter(|control| *control != host.control)?;
    let sends = |program: &ProgramSpec| {
        let flow = program.flow.and_then(|flow| setup.flows.get(flow));
        flow.is_some_and(|flow| flow.from == host.spec.node) && !program.run.contains(wanted)
    };
    let any = setup.programs.iter().any(sends);
    any.then(|| (host.spec.name.clone(), host.control.clone(), wanted))
}

fn end_of(program: &mut Program) -> ProgramEnd {
    let well = program.ended().map(|status| status.success());
    program.kill();
    ProgramEnd {
        host: program.host.clone(),
        run: program.run.clone(),
        user: program.user.clone(),
        well,
        log: program.log.clone(),
    }
}

/// Hosts of a run: ends of flows, and hosts with programs.
fn hosts(setup: &Setup, options: &EmulationOptions) -> Result<Vec<Host>, Error> {
    let nodes = parts::hosts(setup, options.shell);
    if nodes.len() > host::MOST {
        let what = format!("{} hosts need more addresses than there are", nodes.len());
        return Err(Error::new(what, "emulate a part of the scenario"));
    }
    let mut flows: BTreeMap<NodeId, Vec<&FlowSpec>> = BTreeMap::new();
    for flow in &setup.flows {
        flows.entry(flow.from).or_default().push(flow);
        flows.entry(flow.to).or_default().push(flow);
    }
    let own = |node| flows.get(node).map_or(&[][..], Vec::as_slice);
    let specs = nodes.iter().enumerate().map(|(n, node)| host_spec(setup, *node, own(node), n));
    let specs: Vec<host::Spec> = specs.collect();
    let names = names::file(&specs)?;
    Host::set_up(specs, names.path())
}

/// Configuration of the n-th host, at which these flows begin or end.
fn host_spec(setup: &Setup, node: NodeId, own: &[&FlowSpec], n: usize) -> host::Spec {
    let windows = own.iter().map(|flow| flow.transport.receive_window.buffer());
    let law = own.iter().map(|flow| flow.law).next().or_else(|| parts::port_laws(setup).next());
    let control_by_route = own.iter().all(|flow| Some(flow.law) == law);
    let control = law.and_then(|law| control(&setup.laws[law])).filter(|c| c.live.is_none());
    host::Spec {
        node,
        name: setup.network.nodes[node.index()].name.clone(),
        address: host::address(n),
        mtu: mtu(setup, own),
        window: windows.max().unwrap_or(Bytes::new(1 << 26)).min(Bytes::new(1 << 26)),
        ecn: own.iter().any(|flow| flow.transport.ecn || flow.transport.l4s),
        control: control.map(|control| control.name),
        control_by_route,
    }
}

/// Largest packet of a host: of ACP, what ends try.
fn mtu(setup: &Setup, own: &[&FlowSpec]) -> Bytes {
    let usual = Bytes::new(1500);
    let packets = own.iter().map(|flow| flow.transport.packet);
    let largest = packets.max().unwrap_or(usual);
    let names: Vec<&str> = acp::flows(setup).map(|n| setup.flows[n].name.as_str()).collect();
    let of_acp = own.iter().any(|flow| names.contains(&flow.name.as_str()));
    if of_acp { largest.max(usual) } else { largest }
}

/// Maximum number of open files of a run: two a flow of ours, four a host and a program, and some
/// more.
fn files_of(setup: &Setup, is_alone: bool, hosts: usize) -> u64 {
    let flows = match is_alone {
        true => 0,
        false => setup.flows.len() - parts::flows_of_programs(setup).len(),
    };
    (100 + 2 * flows + 4 * (hosts + setup.programs.len())) as u64
}

/// Raises the limit of open files as far as allowed, and at least to `needed`.
fn raise_limits(needed: u64) -> Result<(), Error> {
    use nix::sys::resource::{Resource::RLIMIT_NOFILE, getrlimit, setrlimit};
    let (now, most) = getrlimit(RLIMIT_NOFILE).map_err(|e| {
        Error::new("cannot ask how many files may be open", "see getrlimit(2)").because(e)
    })?;
    let wanted = most.max(needed);
    // An unlimited limit may exceed fs.nr_open, to which nothing can be raised.
    let set = |soft, hard| setrlimit(RLIMIT_NOFILE, soft, hard).is_ok();
    if set(wanted, wanted) || now >= needed || (most >= needed && set(needed, most)) {
        return Ok(());
    }
    let what = format!("{needed} files must be open at once, and this process may have {most}");
    Err(Error::new(what, "emulate fewer flows, or raise `ulimit -Hn` and fs.nr_open"))
}

fn start_program(
    setup: &Setup,
    laws: &Laws,
    hosts: &[Host],
    spec: &ProgramSpec,
    options: &EmulationOptions,
    programs: &Mutex<Vec<Program>>,
) -> Result<(), Error> {
    let Some(host) = hosts.iter().find(|host| host.spec.node == spec.host) else { return Ok(()) };
    let Ok(mut programs) = programs.lock() else { return Ok(()) };
    let log = match &options.logs {
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|e| {
                Error::new(format!("cannot make {}", folder.display()), "").because(e)
            })?;
            Some(folder.join(names::log(programs.len() + 1, &host.spec.name)))
        }
        None => None,
    };
    let group = group(setup, laws, spec.flow);
    let user = options.users.get(spec.user.as_deref())?;
    let mut program = Program::start(host, &spec.run, group, Role::Scenario { user, log })?;
    program.makes_flow = spec.flow.is_some();
    programs.push(program);
    Ok(())
}

/// Control group of a program's sockets: that of its flow, or else of the ports' law.
fn group<'a>(setup: &Setup, laws: &'a Laws, flow: Option<usize>) -> Option<&'a Path> {
    let control = match flow {
        Some(flow) => of_flow(setup, &setup.flows[flow]),
        None => parts::port_laws(setup).next().and_then(|law| control(&setup.laws[law])),
    };
    laws.folder(control?)
}

/// Opens both ends of every flow that is no program's. Flows under one congestion control are
/// opened together, because a move to its control group and back takes the kernel as long as
/// opening many sockets.
fn open_flows(
    setup: &Setup,
    laws: &Laws,
    hosts: &[Host],
) -> Result<Vec<Option<FlowSockets>>, Error> {
    let hosts: BTreeMap<NodeId, &Host> = hosts.iter().map(|host| (host.spec.node, host)).collect();
    let of_programs = parts::flows_of_programs(setup);
    let mut by_control: Vec<(Option<CongestionControl>, Vec<usize>)> = Vec::new();
    for (n, spec) in setup.flows.iter().enumerate().filter(|(n, _)| !of_programs.contains(n)) {
        let control = of_flow(setup, spec);
        match by_control.iter_mut().find(|(other, _)| *other == control) {
            Some((_, flows)) => flows.push(n),
            None => by_control.push((control, vec![n])),
        }
    }
    let mut all: Vec<Option<FlowSockets>> = setup.flows.iter().map(|_| None).collect();
    for (control, flows) in by_control {
        let own = control.filter(|control| control.live.is_none()).map(|control| control.name);
        laws.inside(control, || {
            for n in flows {
                let spec = &setup.flows[n];
                if let (Some(from), Some(to)) = (hosts.get(&spec.from), hosts.get(&spec.to)) {
                    all[n] = Some(FlowSockets::open(n, spec, from, to, own)?);
                }
            }
            Ok(())
        })??;
    }
    Ok(all)
}

/// Starts programs at their times.
fn start_later(
    setup: &Setup,
    laws: &Laws,
    hosts: &[Host],
    options: &EmulationOptions,
    programs: &Mutex<Vec<Program>>,
    clock: Clock,
    over: &AtomicBool,
) -> Result<(), Error> {
    let later = setup.programs.iter().filter_map(|spec| Some((spec.start?, spec)));
    let mut later: Vec<(Time, &ProgramSpec)> = later.collect();
    later.sort_by_key(|(at, _)| *at);
    for (at, spec) in later {
        while clock.now() < at && !over.load(Relaxed) {
            thread::park_timeout(clock.until(at));
        }
        if over.load(Relaxed) || at >= end_of_run(setup, options) {
            break;
        }
        start_program(setup, laws, hosts, spec, options, programs)?;
    }
    Ok(())
}

fn open_shell(setup: &Setup, laws: &Laws, hosts: &[Host], at: Shell) -> Result<Program, Error> {
    let host = hosts.iter().find(|host| host.spec.node == at.host);
    let host = host.ok_or_else(|| Error::new("no such host", "name a node of the scenario"))?;
    let text = at.greeting(setup, hosts, &host.spec.name);
    // A reader that has gone away does not keep the shell from opening.
    let _ = io::stderr().write_all(text.as_bytes());
    let shell = std::env::var("SHELL").unwrap_or_else(|_| "sh".into());
    Program::start(host, &shell, group(setup, laws, None), Role::Shell)
}

/// Latest end of a run; with a shell it lasts until the shell is left.
fn end_of_run(setup: &Setup, options: &EmulationOptions) -> Time {
    Time::ZERO + if options.shell.is_some() { FOR_EVER } else { setup.duration }
}
