//! Clients of one command that all do the same.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use ratewire_command_line::{Exit, whole_number, with_causes};
use ratewire_groups::client::{Address, ClientName, Connection, Error, Options, Refusal};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::trouble::{End, fail};

/// Clients of a command, at most.
const MOST_CLIENTS: u64 = 10_000;
/// Time between attempts to connect again.
const RETRY: Duration = Duration::from_millis(100);

/// Number of clients, and how they connect.
#[derive(Clone, clap::Args)]
pub(super) struct Many {
    /// Where the daemon listens: HOST:PORT, the path of a Unix socket, or PORT for /tmp/PORT
    #[arg(long, value_name = "ADDRESS", default_value = "/tmp/4803")]
    at: Address,
    /// Clients, each with a connection of its own
    #[arg(long, value_name = "N", default_value = "1", value_parser = clients)]
    pub(super) clients: u64,
    /// Name of the client at its daemon, 1 to 10 characters; of several clients, the start of their
    /// names, which their numbers follow; without one, the daemon gives names
    #[arg(long)]
    name: Option<String>,
    /// Wait for a daemon that is not there, and connect again when a connection ends
    #[arg(long)]
    reconnect: bool,
}

fn clients(text: &str) -> Result<u64, String> {
    whole_number(text, 1..=MOST_CLIENTS)
}

impl Many {
    /// Lets each client do its work until all are done, one has failed, or the user ends the
    /// command. `work` gets the client's number, from 0, and its connection.
    pub(super) async fn run<F>(&self, work: impl Fn(usize, Connection) -> F + 'static) -> Exit
    where
        F: Future<Output = Result<(), End>> + 'static,
    {
        let work = Rc::new(work);
        let mut all = JoinSet::new();
        for number in 0..self.clients {
            let name = match self.name_of(number) {
                Ok(name) => name,
                Err(error) => return fail(&error),
            };
            all.spawn_local(self.clone().keep_on(number as usize, name, Rc::clone(&work)));
        }
        loop {
            tokio::select! {
                ended = all.join_next() => match ended {
                    None => return Exit::Done,
                    Some(ended) => if let Err(end) = ended.expect("no task panics") {
                        return end.exit();
                    }
                },
                _ = tokio::signal::ctrl_c() => return Exit::Done,
            }
        }
    }

    fn name_of(&self, number: u64) -> Result<Option<ClientName>, Error> {
        let Some(name) = &self.name else { return Ok(None) };
        let name = match self.clients {
            1 => name.clone(),
            _ => format!("{name}{}", number + 1),
        };
        name.parse().map(Some).map_err(Error::Name)
    }

    async fn keep_on<F>(
        self,
        number: usize,
        name: Option<ClientName>,
        work: Rc<impl Fn(usize, Connection) -> F>,
    ) -> Result<(), End>
    where
        F: Future<Output = Result<(), End>>,
    {
        let mut told = None;
        loop {
            let options = Options { name: name.clone(), ..Options::default() };
            let ended = match Connection::connect(&self.at, options).await {
                Ok(connection) => work(number, connection).await,
                Err(error) => Err(error.into()),
            };
            match ended {
                Err(End::Client(error)) if self.reconnect && may_pass(&error) => {
                    // One client speaks for all, and says what stays so once.
                    let text = with_causes(&error);
                    if number == 0 && told.as_ref() != Some(&text) {
                        print_stderr!("ratewire: {text}; connecting again until it works");
                        told = Some(text);
                    }
                    sleep(RETRY).await;
                }
                ended => return ended,
            }
        }
    }
}

/// Whether an error may be another daemon's, or gone, at the next attempt. A daemon may not have
/// noticed yet that an earlier connection of the name has ended.
fn may_pass(error: &Error) -> bool {
    match error {
        Error::Unreachable(..) | Error::Connection(_) | Error::Closed => true,
        Error::Refused(refusal) => *refusal == Refusal::NotUnique,
        _ => false,
    }
}
