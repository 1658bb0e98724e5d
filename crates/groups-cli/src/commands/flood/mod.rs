//! `ratewire-groups flood`: loads a daemon with messages, and measures.

mod client;
mod order;
mod plan;
mod results;
mod run;
mod stamp;
mod tally;

use std::hash::{BuildHasher, RandomState};

use plan::{End, Plan};
use ratewire_command_line::{Exit, print, whole_number};
use ratewire_groups::client::{Address, Error, GroupName};
use ratewire_groups::spread::LONGEST_BODY;
use ratewire_units::{Bytes, Duration, Time};
use results::Results;
use run::{Trouble, run};
use stamp::Stamp;

use super::service::Service;
use super::trouble::fail;
use super::{any_time, count, rate, time};

/// Clients of a kind, at most.
const MOST_CLIENTS: u64 = 10_000;
/// Groups, at most.
const MOST_GROUPS: u64 = 1_000;
/// Longest start of a group's name: the number of the run and of the group follow.
const LONGEST_PREFIX: usize = 16;
/// Length of a run that gives none.
const USUAL_TIME: Duration = Duration::from_secs(5);
/// Warm-up of a run that gives none.
const USUAL_WARMUP: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the daemon listens: HOST:PORT, the path of a Unix socket, or PORT for /tmp/PORT; with
    /// several, senders use them in turn, and receivers in turn from the last
    #[arg(long, value_name = "ADDRESS", default_value = "/tmp/4803", value_delimiter = ',')]
    at: Vec<Address>,
    /// Clients that send
    #[arg(long, value_name = "N", default_value = "1", value_parser = clients)]
    senders: u64,
    /// Clients that receive; each joins all groups; with 0, the senders join and receive
    #[arg(long, value_name = "N", default_value = "1", value_parser = clients_or_none)]
    receivers: u64,
    /// Groups; each sender's messages go to them in turn
    #[arg(long, value_name = "N", default_value = "1", value_parser = group_count)]
    groups: u64,
    /// Start of the groups' names, for a daemon with policies for groups
    #[arg(long, value_name = "NAME", default_value = "flood", value_parser = prefix)]
    prefix: String,
    /// Size of a message's data
    #[arg(long, default_value = "100 B", value_parser = size)]
    size: Bytes,
    /// Messages that each sender sends
    #[arg(long, value_name = "N", value_parser = count, conflicts_with = "time")]
    count: Option<u64>,
    /// Time in which senders send, after the warm-up [default: 5 s]
    #[arg(long, value_name = "DURATION", value_parser = time)]
    time: Option<Duration>,
    /// Time at the start that does not count [default: 1 s, or 0 s with --count]
    #[arg(long, value_name = "DURATION", value_parser = any_time)]
    warmup: Option<Duration>,
    /// Messages a second of all senders together [default: as many as the daemons take]
    #[arg(long, value_name = "MESSAGES", value_parser = rate)]
    rate: Option<f64>,
    /// Messages of each sender that not all receivers have got, at most [default: any number]
    #[arg(long, value_name = "N", value_parser = count)]
    window: Option<u64>,
    /// Promise about the messages
    #[arg(long, value_enum, default_value_t = Service::Agreed)]
    service: Service,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// Runs a flood and prints its results.
pub(super) async fn flood(args: &Args) -> Exit {
    let plan = plan(args);
    let shared = match run(plan.clone()).await {
        Ok(shared) => shared,
        Err(Trouble::Client(error)) => {
            let exit = fail(&error);
            if matches!(error, Error::Closed | Error::Connection(_)) && plan.window.is_none() {
                print_stderr!(
                    "  help: Spread's daemon ends a client with 1000 messages waiting for it; \
                     --window 200 avoids that"
                );
            }
            return exit;
        }
        Err(Trouble::Setup(longest)) => {
            print_stderr!(
                "ratewire: not all clients could join the groups within {} s\n  \
                 help: see the daemons' logs; all addresses must be those of linked daemons",
                longest.as_secs()
            );
            return Exit::Unable;
        }
    };
    let results = Results::new(&plan, &shared.tally.borrow());
    let text = match args.json {
        true => serde_json::to_string_pretty(&results).unwrap_or_default() + "\n",
        false => results.text(),
    };
    match print(&text) {
        Exit::Done if !results.are_kept() => Exit::NotMet,
        exit => exit,
    }
}

fn plan(args: &Args) -> Plan {
    // Hashers of the standard library have random keys.
    let run = RandomState::new().hash_one(std::process::id()) as u32;
    let group = |number| -> GroupName {
        let name = format!("{}-{run:08x}-{number}", args.prefix);
        name.parse().expect("the prefix was checked")
    };
    let usual = if args.count.is_some() { Duration::from_ps(0) } else { USUAL_WARMUP };
    let warmup = args.warmup.unwrap_or(usual);
    let end = || Time::from_ps(warmup.ps() + args.time.unwrap_or(USUAL_TIME).ps());
    Plan {
        run,
        at: args.at.clone(),
        senders: args.senders as usize,
        receivers: args.receivers as usize,
        groups: (1..=args.groups).map(group).collect(),
        size: args.size,
        service: args.service,
        rate: args.rate,
        window: args.window,
        warmup,
        end: args.count.map_or_else(|| End::At(end()), End::Count),
    }
}

fn clients(text: &str) -> Result<u64, String> {
    whole_number(text, 1..=MOST_CLIENTS)
}

fn clients_or_none(text: &str) -> Result<u64, String> {
    whole_number(text, 0..=MOST_CLIENTS)
}

fn group_count(text: &str) -> Result<u64, String> {
    whole_number(text, 1..=MOST_GROUPS)
}

fn prefix(text: &str) -> Result<String, String> {
    let is_name = text.parse::<GroupName>().is_ok() && !text.starts_with('#');
    if !is_name || text.len() > LONGEST_PREFIX {
        return Err(format!("allowed: 1 to {LONGEST_PREFIX} characters from `$` to `~`"));
    }
    Ok(text.to_string())
}

fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    // The group's name takes 32 bytes.
    let (least, most) = (Stamp::SIZE as u64, LONGEST_BODY as u64 - 32);
    if !(least..=most).contains(&size.get()) {
        return Err(format!("allowed: {least} B to {most} B"));
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_bounds() {
        assert_eq!(size("1 KB"), Ok(Bytes::new(1_000)));
        assert_eq!(size("23 B").unwrap_err(), "allowed: 24 B to 143920 B");
        assert!(size("100").unwrap_err().contains("has no unit"));
        assert!(prefix("#a#b").is_err() && prefix("video").is_ok());
    }
}
