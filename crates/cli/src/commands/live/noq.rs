//! `ratewire live router --law noq`: a port that runs until it is ended.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::SignalFd;
use ratewire_command_line::{Exit, print};
use ratewire_live::Error;
use ratewire_live::noq::{self, Event, Neighbour, Source, Spec};
use ratewire_units::quantity::QuantityError;
use ratewire_units::{Bytes, Rate};

use super::status::NoqPort;
use super::{unable, wrong};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Only for noq: a neighbour to pause while the queue is long: the interface to its cable, or
    /// its address if there is no Ethernet between; with /CLASS, as eth0/1:10, while its own queue
    /// is long, that of this class of the interface's queueing discipline; may be given several
    /// times
    #[arg(long, value_name = "IFACE|ADDRESS[:PORT][/CLASS]", value_parser = upstream)]
    upstream: Vec<Source>,
    /// Only for noq: hold the queue when the next hop pauses it, by "frames" if the card does not
    /// obey them itself, or by messages from its address
    #[arg(long, value_name = "frames|ADDRESS[:PORT]", value_parser = obeyed)]
    obey: Option<Obeyed>,
    /// Only for noq: backlog above which neighbours are paused [default: 256 KB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    xoff: Option<Bytes>,
    /// Only for noq: backlog at which they resume [default: half of the other]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    xon: Option<Bytes>,
    /// Only for noq: bytes to hold at most where the interface has no tbf of its own
    /// [default: 1 MB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    room: Option<Bytes>,
}

/// Pauses that are obeyed.
#[derive(Clone)]
enum Obeyed {
    Frames,
    From(SocketAddr),
}

fn address(text: &str) -> Option<SocketAddr> {
    let with_default = || text.parse().ok().map(|ip: IpAddr| SocketAddr::new(ip, noq::PORT));
    text.parse().ok().or_else(with_default)
}

/// Text that is no address is an interface's name, which has no slash.
fn upstream(text: &str) -> Result<Source, String> {
    let (who, class) = match text.split_once('/') {
        None => (text, None),
        Some((who, class)) => {
            let read = noq::class(class);
            let wrong = || format!("{class:?} is no class: allowed: as 1:10, in hexadecimal");
            (who, Some(read.ok_or_else(wrong)?))
        }
    };
    let cable = || Neighbour::Cable(who.to_string());
    Ok(Source { neighbour: address(who).map_or_else(cable, Neighbour::Address), class })
}

fn obeyed(text: &str) -> Result<Obeyed, String> {
    match text {
        "frames" => Ok(Obeyed::Frames),
        _ => {
            address(text).map(Obeyed::From).ok_or("allowed: \"frames\", or an address".to_string())
        }
    }
}

fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|e: QuantityError| e.to_string())?;
    let (least, most) = (Bytes::new(2000), Bytes::new(1 << 30));
    match size >= least && size <= most {
        true => Ok(size),
        false => Err(format!("allowed: from {least} to {most}")),
    }
}

impl Args {
    /// Name of a flag that is given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--upstream", !self.upstream.is_empty()),
            ("--obey", self.obey.is_some()),
            ("--xoff", self.xoff.is_some()),
            ("--xon", self.xon.is_some()),
            ("--room", self.room.is_some()),
        ];
        flags.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    fn spec(&self, iface: &str, rate: Option<Rate>) -> Result<Spec, &'static str> {
        if self.upstream.is_empty() && self.obey.is_none() {
            return Err(
                "noq needs neighbours: --upstream to pause some, --obey to be paused by one",
            );
        }
        let xoff = self.xoff.unwrap_or(Bytes::new(256_000));
        let xon = self.xon.unwrap_or(Bytes::new(xoff.get() / 2));
        let room = self.room.unwrap_or(Bytes::new(1_000_000));
        if xon > xoff {
            return Err("--xon must not be above --xoff");
        }
        // Each of its queues would let it go while another is long.
        let is_named_twice = self.upstream.iter().enumerate().any(|(at, one)| {
            self.upstream[..at].iter().any(|other| other.neighbour == one.neighbour)
        });
        if is_named_twice {
            return Err("--upstream names a neighbour twice: it is paused for one queue");
        }
        let downstream = self.obey.as_ref().map(|obeyed| match obeyed {
            Obeyed::Frames => Neighbour::Cable(iface.to_string()),
            Obeyed::From(address) => Neighbour::Address(*address),
        });
        let (iface, upstream) = (iface.to_string(), self.upstream.clone());
        Ok(Spec { iface, upstream, downstream, xoff, xon, room, rate })
    }
}

/// Runs a port until a signal arrives or `detach` ends it.
pub(super) fn run(args: &Args, iface: &str, rate: Option<Rate>) -> Exit {
    let spec = match args.spec(iface, rate) {
        Ok(spec) => spec,
        Err(what) => return wrong(what, "`ratewire live router --help` lists the flags"),
    };
    // Whatever ends it, a queue that it holds must go on: a terminal that closes, too.
    let ends = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];
    let enough: SigSet = ends.into_iter().collect();
    let asked_to_end = enough.thread_block().and_then(|()| SignalFd::new(&enough));
    let asked_to_end = asked_to_end.expect("the kernel has signals");
    // It stands by until this process has ended in any way.
    let mut guard = match spec.downstream.is_some().then(|| stand_by(iface)).transpose() {
        Ok(guard) => guard,
        Err(e) => {
            print_stderr!(
                "ratewire: no guard can be started, which lets the queue go if this is killed: {e}"
            );
            return Exit::Unable;
        }
    };
    let tell = |event: Event<'_>| match event {
        Event::Started => {
            let text = format!("noq runs at {iface} until Ctrl-C or `ratewire live detach`\n");
            // A reader that has gone away does not end the port.
            let _ = print(&text);
        }
        Event::Stuck(status) => {
            let warning = NoqPort::from(status.clone()).warning().unwrap_or_default();
            print_stderr!("ratewire: {}", warning.trim_end());
        }
        Event::Freed => {
            print_stderr!("ratewire: {iface}: packets leave again");
        }
    };
    let ended = noq::run(&spec, asked_to_end.as_fd(), tell);
    if let Some(guard) = &mut guard {
        let _ = guard.kill().and_then(|()| guard.wait());
    }
    match ended {
        Ok(()) => Exit::Done,
        Err(e) => unable(&e),
    }
}

/// Starts a process that lets the queue go if this one is killed: held for ever, it could cut the
/// machine off.
fn stand_by(iface: &str) -> io::Result<Child> {
    beside(&["guard", "--iface", iface]).stdin(Stdio::piped()).spawn()
}

/// Starts a process that looks which interfaces pause, and outlives this one.
pub(super) fn watch_pauses() -> io::Result<()> {
    beside(&["watch-pauses"]).stdin(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}

/// A command of `ratewire live` beside this one. It is in a process group of its own, so that a
/// terminal's signals miss it.
fn beside(args: &[&str]) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg("live").args(args).stdout(Stdio::null()).process_group(0);
    command
}

/// The process that [`stand_by`] starts: its input ends when the port's process does.
pub(super) fn guard(iface: &str) -> Result<(), Error> {
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    noq::let_go(iface)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        args: Args,
    }

    fn spec(flags: &str) -> Result<Spec, String> {
        let flags = ["noq"].into_iter().chain(flags.split_whitespace());
        let command = Flags::try_parse_from(flags).map_err(|e| e.to_string())?;
        command.args.spec("right", None).map_err(str::to_string)
    }

    #[test]
    fn neighbours_are_interfaces_or_addresses() {
        let found =
            spec("--upstream left --upstream 10.0.0.1 --upstream [fd00::1]:9 --obey frames");
        let found = found.expect("flags");
        let address = |text: &str| Neighbour::Address(text.parse().expect("an address"));
        let cable = |name: &str| Neighbour::Cable(name.to_string());
        let neighbours: Vec<_> = found.upstream.into_iter().map(|one| one.neighbour).collect();
        let [first, second] = ["10.0.0.1:8808", "[fd00::1]:9"].map(address);
        assert_eq!(neighbours, [cable("left"), first, second]);
        assert_eq!(found.downstream, Some(cable("right")));
        assert_eq!((found.xoff, found.xon), (Bytes::new(256_000), Bytes::new(128_000)));
        let found = spec("--obey fd00::2").expect("flags");
        assert_eq!(found.downstream, Some(address("[fd00::2]:8808")));
    }

    #[test]
    fn a_neighbour_is_paused_for_one_queue() {
        for flags in
            ["--upstream left/1:10 --upstream left/1:11", "--upstream left --upstream left/1:11"]
        {
            let refused = spec(flags).map(drop).unwrap_err();
            assert!(refused.contains("names a neighbour twice"), "{refused}");
        }
    }

    #[test]
    fn a_neighbour_may_have_a_queue_of_its_own() {
        let flags = "--upstream left/1:10 --upstream [fd00::1]:9/1:b --upstream fd00::1/1:c";
        let found = spec(flags).expect("flags").upstream;
        let ninth = Neighbour::Address("[fd00::1]:9".parse().expect("an address"));
        assert_eq!(found[0].neighbour, Neighbour::Cable("left".to_string()));
        assert_eq!(found[1].neighbour, ninth);
        let classes: Vec<_> = found.iter().map(|source| source.class).collect();
        assert_eq!(classes, [Some(0x1_0010), Some(0x1_000b), Some(0x1_000c)]);
    }

    #[test]
    fn flags_that_say_nothing_or_too_much_are_refused() {
        for (flags, says) in [
            ("", "needs neighbours"),
            ("--upstream left --xoff 10kB --xon 20kB", "--xon must not be above --xoff"),
            ("--upstream left/10", "\"10\" is no class: allowed: as 1:10"),
            ("--obey left", "allowed: \"frames\", or an address"),
            ("--obey frames --xoff 5GB", "allowed: from"),
            ("--obey frames --room 1kB", "allowed: from"),
        ] {
            let said = spec(flags).expect_err("they are wrong");
            assert!(said.contains(says), "{flags}: {said}");
        }
    }
}
