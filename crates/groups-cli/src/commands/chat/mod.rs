//! `ratewire-groups chat`: a client for people.

mod input;
mod show;

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use input::Input;
use ratewire_command_line::{Exit, print_on};
use ratewire_groups::client::{
    Address, ClientName, Connection, Error, GroupName, Message, Options, PrivateName, Received,
    Request, Sender,
};
use show::Members;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::Instant;

use super::service::Service;
use super::trouble::{End, LISTEN, fail};

/// Time for the daemon to accept the client; at the end, time without one of the client's messages
/// after which no more are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(clap::Args)]
#[command(after_help = "Type /help for the commands, or end the input to leave.")]
pub(crate) struct Args {
    /// Groups to join
    #[arg(value_name = "GROUP", required = true)]
    groups: Vec<GroupName>,
    /// Where the daemon listens: HOST:PORT, the path of a Unix socket, or PORT for /tmp/PORT
    #[arg(long, value_name = "ADDRESS", default_value = "/tmp/4803")]
    at: Address,
    /// Name of the client at its daemon, 1 to 10 characters; without one, the daemon gives a name
    #[arg(long)]
    name: Option<ClientName>,
    /// Promise about the messages that are sent
    #[arg(long, value_enum, default_value_t = Service::Agreed)]
    service: Service,
}

/// How far a chat is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Lines are read.
    Open,
    /// The input has ended; the client waits for its last messages.
    Ending,
    /// The client leaves its groups.
    Leaving,
}

struct Chat {
    me: PrivateName,
    sender: Sender,
    service: Service,
    /// Groups that the client has asked to join.
    joined: BTreeSet<GroupName>,
    members: Members,
    /// The client's messages that will come back to it.
    awaited: u64,
    stage: Stage,
}

/// Chats until the input ends.
pub(super) async fn chat(args: &Args) -> Exit {
    session(args).await.unwrap_or_else(End::exit)
}

async fn session(args: &Args) -> Result<Exit, End> {
    let options = Options { name: args.name.clone(), membership: true, priority: 0 };
    let connecting = Connection::connect(&args.at, options);
    let Ok(connection) = tokio::time::timeout(PATIENCE, connecting).await else {
        let (at, most) = (&args.at, PATIENCE.as_secs());
        print_stderr!("ratewire: {at} has not answered within {most} s\n  help: {LISTEN}");
        return Ok(Exit::Unable);
    };
    let connection = connection?;
    let (sender, mut receiver) = connection.split();
    let mut chat = Chat {
        me: sender.private_name(),
        sender,
        service: args.service,
        joined: BTreeSet::new(),
        members: Members::default(),
        awaited: 0,
        stage: Stage::Open,
    };
    for group in &args.groups {
        chat.act(Input::Join(*group)).await?;
    }
    let mut lines = BufReader::new(tokio::io::stdin()).split(b'\n');
    let mut deadline = Instant::now();
    let mut exit = Exit::Done;
    loop {
        let before = (chat.stage, chat.awaited, chat.joined.len());
        let is_idle = chat.sender.unwritten() == 0;
        tokio::select! {
            received = receiver.receive() => chat.receive(&received?)?,
            flushed = chat.sender.flush(), if !is_idle => flushed?,
            // Unread input waits while the daemon does not read.
            line = lines.next_segment(), if is_idle && chat.stage == Stage::Open => match line {
                Ok(Some(line)) => chat.line(line).await?,
                Ok(None) => chat.stage = Stage::Ending,
                Err(error) => {
                    print_stderr!("ratewire: cannot read standard input: {error}");
                    (chat.stage, exit) = (Stage::Ending, Exit::File);
                }
            },
            () = tokio::time::sleep_until(deadline), if chat.stage != Stage::Open => {
                print_stderr!(
                    "ratewire: messages of this client did not come back within {} s\n  \
                     help: the daemon or a link is overloaded, or the network is parted",
                    PATIENCE.as_secs()
                );
                return Ok(Exit::Unable);
            }
        }
        if chat.stage == Stage::Ending && chat.awaited == 0 {
            chat.stage = Stage::Leaving;
            for group in &chat.joined {
                chat.sender.feed(&Request::Leave(*group)).await?;
            }
        }
        if chat.stage == Stage::Leaving && chat.joined.is_empty() {
            break;
        }
        if before != (chat.stage, chat.awaited, chat.joined.len()) {
            deadline = Instant::now() + PATIENCE;
        }
    }
    chat.sender.send(&Request::Disconnect).await?;
    while receiver.receive().await.is_ok() {}
    Ok(exit)
}

impl Chat {
    /// Does what a line asks for.
    async fn line(&mut self, line: Vec<u8>) -> Result<(), End> {
        match input::parse(Bytes::from(line)) {
            Ok(Some(input)) => self.act(input).await,
            Ok(None) => Ok(()),
            Err(wrong) => {
                print_stderr!("ratewire: {wrong}");
                Ok(())
            }
        }
    }

    async fn act(&mut self, input: Input) -> Result<(), End> {
        match input {
            Input::Say(text) if self.joined.is_empty() => {
                print_stderr!(
                    "ratewire: you are a member of no group: {:?} was not sent\n  \
                     help: join one with /join G",
                    String::from_utf8_lossy(&text)
                );
                Ok(())
            }
            Input::Say(text) => self.say(self.joined.iter().copied().collect(), text).await,
            Input::To(group, text) => self.say(vec![group], text).await,
            Input::Join(group) => {
                if self.request(&Request::Join(group)).await? {
                    self.joined.insert(group);
                }
                Ok(())
            }
            Input::Leave(group) => {
                if !self.joined.contains(&group) {
                    print_stderr!("ratewire: you are no member of {group}");
                } else if self.request(&Request::Leave(group)).await? {
                    self.joined.remove(&group);
                }
                Ok(())
            }
            Input::Members => show(&self.members.list()),
            Input::Quit => {
                self.stage = Stage::Ending;
                Ok(())
            }
            Input::Help => show(input::HELP),
        }
    }

    async fn say(&mut self, groups: Vec<GroupName>, text: Bytes) -> Result<(), End> {
        let comes_back = |group| self.joined.contains(group) || *group == self.me.into();
        let is_awaited = groups.iter().any(comes_back);
        let message = Message::new(self.service.into(), &groups, 0, text);
        if self.request(&Request::Multicast(message)).await? && is_awaited {
            self.awaited += 1;
        }
        Ok(())
    }

    /// Takes a request to be sent; false if no daemon may accept the request.
    async fn request(&mut self, request: &Request) -> Result<bool, End> {
        match self.sender.feed(request).await {
            Ok(()) => Ok(true),
            Err(error @ Error::Request(_)) => {
                fail(&error);
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn receive(&mut self, received: &Received) -> Result<(), End> {
        match received {
            Received::Message { sender, .. } if *sender == self.me => {
                self.awaited = self.awaited.saturating_sub(1);
            }
            Received::Rejected { request: Request::Multicast(_), .. } => {
                self.awaited = self.awaited.saturating_sub(1);
            }
            Received::Rejected { request: Request::Join(group), .. } => {
                self.joined.remove(group);
            }
            Received::Left(group) if self.stage == Stage::Leaving => {
                self.joined.remove(group);
            }
            _ => {}
        }
        show(&self.members.note(received, self.me))
    }
}

fn show(text: &str) -> Result<(), End> {
    print_on(text).map(|_| ()).map_err(End::Output)
}
