//! `ratewire-groups send`: sends to a group.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use bytes::Bytes as Data;
use ratewire_command_line::{Exit, print};
use ratewire_groups::client::{Connection, GroupName, Message, Request, Sender};
use ratewire_groups::spread::LONGEST_BODY;
use ratewire_units::{Bytes, Duration, Time};
use tokio::io::{AsyncBufReadExt, BufReader, Split, Stdin};
use tokio::sync::Mutex;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::clock::Clock;
use super::many::Many;
use super::pace::Pace;
use super::service::Service;
use super::trouble::End;
use super::{count, messages, rate, time};

/// Bytes that a client writes at a time: enough that calls of the kernel are few.
const WRITE_SIZE: u64 = 16_384;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Group to send to; the clients do not join
    group: GroupName,
    #[command(flatten)]
    many: Many,
    /// Size of each message's data [default: each line of standard input is a message]
    #[arg(long, value_parser = size)]
    size: Option<Bytes>,
    /// Messages of --size that each client sends [default: any number]
    #[arg(long, value_name = "N", value_parser = count, requires = "size")]
    count: Option<u64>,
    /// Time for which the clients send messages of --size [default: any]
    #[arg(long, value_name = "DURATION", value_parser = time, requires = "size")]
    time: Option<Duration>,
    /// Messages of --size a second, of all clients together [default: as many as the daemons take]
    #[arg(long, value_name = "MESSAGES", value_parser = rate, requires = "size")]
    rate: Option<f64>,
    /// Promise about the messages
    #[arg(long, value_enum, default_value_t = Service::Agreed)]
    service: Service,
}

fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    // The group's name takes 32 bytes.
    let most = LONGEST_BODY as u64 - 32;
    if size.get() > most {
        return Err(format!("allowed: at most {most} B"));
    }
    Ok(size)
}

/// Where messages come from.
enum Source {
    /// Standard input.
    Lines(Mutex<Split<BufReader<Stdin>>>),
    /// They have no content.
    Size(Bytes),
}

/// What the clients have in common.
struct Load {
    group: GroupName,
    service: Service,
    source: Source,
    count: u64,
    end: Time,
    rate: Option<f64>,
    clients: usize,
    clock: Clock,
    /// Messages of each client so far, over all of its connections.
    sent: Vec<Cell<u64>>,
}

/// Sends until the input, the number or the time ends, or the user ends the command.
pub(super) async fn send(args: &Args) -> Exit {
    let source = match args.size {
        Some(size) => Source::Size(size),
        None if args.many.clients == 1 => {
            Source::Lines(Mutex::new(BufReader::new(tokio::io::stdin()).split(b'\n')))
        }
        None => {
            print_stderr!(
                "ratewire: several clients cannot read the same input\n  help: add --size"
            );
            return Exit::Wrong;
        }
    };
    let load = Rc::new(Load {
        group: args.group,
        service: args.service,
        source,
        count: args.count.unwrap_or(u64::MAX),
        end: args.time.map_or(Time::NEVER, |time| Time::ZERO + time),
        rate: args.rate,
        clients: args.many.clients as usize,
        clock: Clock::start(),
        sent: vec![Cell::new(0); args.many.clients as usize],
    });
    let shared = Rc::clone(&load);
    let one = move |me, connection| {
        let load = Rc::clone(&shared);
        async move { load.client(me, connection).await }
    };
    match args.many.run(one).await {
        Exit::Done => {
            let sent: u64 = load.sent.iter().map(Cell::get).sum();
            print(&format!("{}\n", messages(sent)))
        }
        exit => exit,
    }
}

impl Load {
    async fn client(&self, me: usize, connection: Connection) -> Result<(), End> {
        let (mut sender, mut receiver) = connection.split();
        let all = async {
            match &self.source {
                Source::Lines(lines) => self.lines(lines, me, &mut sender).await?,
                Source::Size(size) => self.messages(*size, me, &mut sender).await?,
            }
            Ok(sender.send(&Request::Disconnect).await?)
        };
        // Reading goes on meanwhile, and until the daemon has read all and ends the connection.
        let mut is_sent = false;
        let mut all = pin!(all);
        loop {
            tokio::select! {
                sent = &mut all, if !is_sent => {
                    sent.map_err(|end: End| end)?;
                    is_sent = true;
                }
                received = receiver.receive() => match received {
                    Ok(_) => {}
                    Err(_) if is_sent => return Ok(()),
                    Err(error) => return Err(error.into()),
                },
            }
        }
    }

    /// Sends lines of standard input.
    async fn lines(
        &self,
        lines: &Mutex<Split<BufReader<Stdin>>>,
        me: usize,
        sender: &mut Sender,
    ) -> Result<(), End> {
        loop {
            let line = lines.lock().await.next_segment().await;
            match line {
                Ok(Some(line)) => sender.send(&self.message(line.into())).await?,
                Ok(None) => return Ok(()),
                Err(error) => {
                    print_stderr!("ratewire: cannot read standard input: {error}");
                    return Err(End::Output(Exit::File));
                }
            }
            self.note(me, 1);
        }
    }

    /// Sends messages of a size.
    async fn messages(&self, size: Bytes, me: usize, sender: &mut Sender) -> Result<(), End> {
        let message = self.message(vec![0; size.get() as usize].into());
        let batch = (WRITE_SIZE / size.get().max(1)).max(1);
        let start = self.clock.now();
        let mut pace = self.rate.map(|rate| Pace::share(rate, me, self.clients, start));
        while self.sent[me].get() < self.count && self.clock.now() < self.end {
            let mut messages = batch.min(self.count - self.sent[me].get());
            if let Some(pace) = &mut pace {
                let now = self.clock.now();
                messages = messages.min(pace.due(now));
                if messages == 0 {
                    let next = pace.next.min(self.end);
                    sleep(next.since(now).to_std()).await;
                    continue;
                }
                pace.sent(messages);
            }
            for _ in 0..messages {
                sender.feed(&message).await?;
            }
            sender.flush().await?;
            self.note(me, messages);
            yield_now().await;
        }
        Ok(())
    }

    fn note(&self, me: usize, messages: u64) {
        self.sent[me].set(self.sent[me].get() + messages);
    }

    fn message(&self, data: Data) -> Request {
        Request::Multicast(Message::new(self.service.into(), &[self.group], 0, data))
    }
}
