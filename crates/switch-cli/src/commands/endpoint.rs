//! `ratewire-switch endpoint`: a peer or a member for measurements.

use std::net::SocketAddr;
use std::path::PathBuf;

use ratewire_acp::Config;
use ratewire_command_line::{Exit, print, with_causes};
use ratewire_daemon::process::{begun, notify_ready, wait_for_stop_signal};
use ratewire_files::INPUT;
use ratewire_switch::endpoint::{Endpoint, EndpointConfig, Figures, Reader, Role, Writer};
use ratewire_switch::key::KeyFile;
use ratewire_units::{Bytes, Duration, Rate, Time};

use super::programs::{Law, law};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Connect to a switch, or to another endpoint
    #[arg(long, value_name = "ADDRESS", required_unless_present = "listen")]
    connect: Option<SocketAddr>,
    /// Wait for a switch, or for another endpoint
    #[arg(long, value_name = "ADDRESS", conflicts_with = "connect")]
    listen: Option<SocketAddr>,
    /// The key of the connection, made by `ratewire-switch key`
    #[arg(long, value_name = "FILE", default_value = "switch.key")]
    key: PathBuf,
    /// The law by which frames are sent, if not the usual one of ACP: its name, and options as
    /// NAME=VALUE behind commas
    #[arg(long, value_parser = law)]
    law: Option<Law>,
    /// Write frames without end, or with --size, --rate or --stop until then
    #[arg(long)]
    write: bool,
    /// Payload of a frame that is written
    #[arg(long, value_name = "SIZE", default_value = "1024 B", value_parser = frame)]
    frame: Bytes,
    /// Write this much payload in all
    #[arg(long, requires = "write", conflicts_with = "rate")]
    size: Option<Bytes>,
    /// Write frames at this rate of payload
    #[arg(long, requires = "write")]
    rate: Option<Rate>,
    /// File of which each eight bytes are the first ones of a frame, in turn
    #[arg(long, value_name = "FILE", requires = "write")]
    contents: Option<PathBuf>,
    /// When to connect and to write, from the start of the program
    #[arg(long, value_name = "TIME", default_value = "0 s")]
    start: Duration,
    /// When to write no more
    #[arg(long, value_name = "TIME", requires = "write")]
    stop: Option<Duration>,
    /// Times without writing, such as "5 s .. 8 s", in order
    #[arg(long, value_name = "TIMES", requires = "write", value_parser = times)]
    idle: Vec<(Time, Time)>,
    /// Time that reading a frame takes
    #[arg(long, value_name = "TIME", default_value = "0 s")]
    per_frame: Duration,
    /// Time that reading a frame takes in every second interval of --every
    #[arg(long, value_name = "TIME", requires = "every")]
    then_per_frame: Option<Duration>,
    /// Length of the intervals
    #[arg(long, value_name = "TIME", requires = "then_per_frame")]
    every: Option<Duration>,
    /// Room for frames that were not read yet
    #[arg(long, value_name = "SIZE", default_value = "4 MiB")]
    receive_buffer: Bytes,
    /// Wait for a second packet before one is acknowledged; 0 s for none
    #[arg(long, value_name = "TIME", default_value = "1 ms")]
    delayed_ack: Duration,
    /// Rate of this host's own link, for laws that begin with it
    #[arg(long, value_name = "RATE", default_value = "10 Gbit/s")]
    line_rate: Rate,
    /// File in which the figures stand, and when time zero is, for emulated runs
    #[arg(long, value_name = "FILE", hide = true)]
    record: Option<PathBuf>,
}

/// Written payload that waits for its first packet.
const UNSENT: Bytes = Bytes::new(32 << 10);

pub(super) fn endpoint(args: &Args) -> Exit {
    let config = match config(args) {
        Ok(config) => config,
        Err((exit, message)) => {
            print_stderr!("ratewire: {message}");
            return exit;
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            print_stderr!("ratewire: cannot start the asynchronous runtime: {error}");
            return Exit::Unable;
        }
    };
    let done = tokio::task::LocalSet::new().block_on(&runtime, async {
        let stop = begun(wait_for_stop_signal("the endpoint ends at once")).await;
        let endpoint = Endpoint::new(config)?;
        tokio::select! {
            done = endpoint.run(notify_ready) => done?,
            () = stop => {}
        }
        Ok(endpoint.figures())
    });
    match done {
        Ok(figures) => print(&described(&figures)),
        Err(error) => {
            let error: ratewire_switch::endpoint::EndpointError = error;
            let help = "the other end must be there, with the same key; a record must be writable";
            print_stderr!("ratewire: {}\n  help: {help}", with_causes(&error));
            Exit::Unable
        }
    }
}

fn config(args: &Args) -> Result<EndpointConfig, (Exit, String)> {
    let credentials = KeyFile::read(&args.key).map_err(|error| {
        (Exit::File, format!("{}\n  help: {}", with_causes(&error), error.help()))
    })?;
    let mut acp = Config {
        receive_buffer: args.receive_buffer,
        unsent_buffer: UNSENT.max(args.frame),
        delayed_ack: Some(args.delayed_ack).filter(|time| !time.is_zero()),
        line_rate: args.line_rate,
        ..Config::new(credentials)
    };
    if let Some(Law { law, told }) = &args.law {
        (acp.law, acp.law_name) = (law.clone(), told.clone());
    }
    let role = match (args.connect, args.listen) {
        (Some(to), _) => Role::Connect(to),
        (None, Some(at)) => Role::Listen(at),
        (None, None) => return Err((Exit::Wrong, "name --connect or --listen".to_string())),
    };
    let writer = match (args.size, args.rate) {
        (Some(size), _) => Writer::Sized(size),
        (None, Some(rate)) => Writer::Constant { rate },
        (None, None) => Writer::Unlimited,
    };
    let reader = match (args.then_per_frame, args.every) {
        (Some(then), Some(every)) => {
            Reader::Alternating { per_frame: [args.per_frame, then], every }
        }
        _ if args.per_frame.is_zero() => Reader::Immediate,
        _ => Reader::Slow(args.per_frame),
    };
    Ok(EndpointConfig {
        role,
        acp,
        frame: args.frame,
        writer: args.write.then_some(writer),
        reader,
        contents: args.contents.as_deref().map_or(Ok(Vec::new()), contents)?,
        start: Time::ZERO + args.start,
        stop: args.stop.map(|stop| Time::ZERO + stop),
        idle: args.idle.clone(),
        record: args.record.clone(),
    })
}

fn contents(path: &std::path::Path) -> Result<Vec<[u8; 8]>, (Exit, String)> {
    let bytes = ratewire_files::read(path, INPUT).map_err(|error| {
        let help = error.help();
        (Exit::File, format!("cannot read {}: {error}\n  help: {help}", path.display()))
    })?;
    Ok(bytes.as_chunks().0.to_vec())
}

fn described(figures: &Figures) -> String {
    let Figures { received, acknowledged, without_room, retransmitted, timeouts, srtt, .. } =
        figures;
    format!(
        "received {received}; acknowledged {acknowledged}, of which sent again {retransmitted}, \
         {timeouts} timeouts; {without_room} packets found no room; round trip {srtt}\n"
    )
}

fn frame(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let allowed = Bytes::new(1)..=Bytes::new(16_000_000);
    if allowed.contains(&size) { Ok(size) } else { Err("allowed: 1 B to 16 MB".to_string()) }
}

fn times(text: &str) -> Result<(Time, Time), String> {
    let both = text.split_once("..").ok_or("two times such as \"5 s .. 8 s\"")?;
    let time = |text: &str| text.trim().parse::<Duration>().map_err(|error| format!("{error}"));
    Ok((Time::ZERO + time(both.0)?, Time::ZERO + time(both.1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let ms = Time::from_millis;
        assert_eq!(times("5 ms .. 8 ms"), Ok((ms(5), ms(8))));
        assert!(times("5 ms").is_err() && times("5 .. 8").is_err());
        assert!(frame("0 B").is_err() && frame("17 MB").is_err() && frame("1 KB").is_ok());
    }
}
