//! Daemons that run in threads, and what tests ask of them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use ratewire_groups::client::blocking::Connection;
use ratewire_groups::client::{Address, Options, Received};
use ratewire_groups::config::Config;
use ratewire_groups::daemon::{self, DaemonError, Status, fetch_status};
use ratewire_testing::free_address;
use tokio::sync::oneshot;
use tracing::Dispatch;

use crate::log::Log;

/// A daemon that stops with the end of the value.
pub struct Running {
    pub clients: SocketAddr,
    pub status: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), DaemonError>>>,
}

/// Starts the daemon called `name`. Its `listen` has one TCP address.
pub fn start(config: Config, name: &str, log: &Log) -> Result<Running, DaemonError> {
    let me = config.me(Some(name)).unwrap();
    let clients = config.daemon(me).listen[0].clone();
    let ratewire_groups::config::Listen::Tcp(clients) = clients else { panic!("not TCP") };
    let status = config.daemon(me).status.unwrap();
    let log = Dispatch::new(log.clone());
    let (stop, stopped) = oneshot::channel();
    let (ready, is_ready) = mpsc::channel();
    let thread = thread::spawn(move || {
        tracing::dispatcher::with_default(&log, || {
            let stopped = async { _ = stopped.await };
            daemon::run(config, me, stopped, std::future::pending, || ready.send(()).unwrap())
        })
    });
    let mut daemon = Running { clients, status, stop: Some(stop), thread: Some(thread) };
    match is_ready.recv() {
        Ok(()) => Ok(daemon),
        Err(_) => Err(daemon.join().expect_err("a daemon that is not ready has failed")),
    }
}

/// The configuration of one daemon, called `paris`.
pub fn one() -> Config {
    one_with("")
}

/// The configuration of one daemon, called `paris`, with more tables.
pub fn one_with(tables: &str) -> Config {
    let text = format!(
        "[[daemon]]\nname = \"paris\"\nlisten = [\"{}\"]\nstatus = \"{}\"\n{tables}",
        free_address(),
        free_address()
    );
    Config::parse(Path::new("groups.toml"), &text).unwrap()
}

/// The configuration of two daemons, `paris` and `tokyo`, with a link.
pub fn two() -> Config {
    let table = |name| {
        let [link, listen, status] = [free_address(), free_address(), free_address()];
        format!(
            "[[daemon]]\nname = \"{name}\"\naddress = \"{link}\"\nlisten = [\"{listen}\"]\n\
             status = \"{status}\"\n"
        )
    };
    let text = format!("links = \"mesh\"\n{}{}", table("paris"), table("tokyo"));
    Config::parse(Path::new("groups.toml"), &text).unwrap()
}

pub fn paris() -> Running {
    start(one(), "paris", &Log::default()).unwrap()
}

impl Running {
    pub fn join(&mut self) -> Result<(), DaemonError> {
        drop(self.stop.take());
        self.thread.take().map_or(Ok(()), |thread| thread.join().unwrap())
    }

    pub fn status(&self) -> Status {
        fetch_status(self.status).unwrap()
    }

    /// The first status that fits.
    pub fn wait(&self, fits: impl Fn(&Status) -> bool) -> Status {
        for _ in 0..500 {
            let status = self.status();
            if fits(&status) {
                return status;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("the status never fits: {:#?}", self.status());
    }

    pub fn client(&self, name: &str) -> Connection {
        let options = Options { name: Some(name.parse().unwrap()), ..Options::default() };
        self.connect(Options { membership: true, ..options }).unwrap()
    }

    pub fn connect(&self, options: Options) -> Result<Connection, ratewire_groups::client::Error> {
        let address: Address =
            format!("{}@{}", self.clients.port(), self.clients.ip()).parse().unwrap();
        Connection::connect(&address, options)
    }

    /// A connection for HTTP, on which these bytes are sent.
    pub fn http(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.status).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Head and body of the answer to a request without a body.
    pub fn ask(&self, line: &str, headers: &str) -> (String, String) {
        let mut stream = self.http(&format!("{line} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"));
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_string(), body.to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

/// Reads until a message comes.
pub fn message(client: &mut Connection) -> Vec<u8> {
    loop {
        if let Received::Message { message, .. } = client.receive().unwrap() {
            return message.data.to_vec();
        }
    }
}

/// Reads until a view of a group comes.
pub fn joined(client: &mut Connection) {
    while !matches!(client.receive().unwrap(), Received::Membership(_)) {}
}
