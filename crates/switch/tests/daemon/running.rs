//! A switch in a thread of its own, and servers behind it.
#![expect(clippy::disallowed_methods, reason = "the switch runs in a thread of its own")]

use std::cell::Cell;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::Duration;

use ratewire_acp::{Config, Connection, Credentials, Endpoint, Frame};
use ratewire_switch::config;
use ratewire_switch::daemon::{self, Status, fetch_status};
use ratewire_switch::key::KeyFile;
use ratewire_testing::free_address;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

pub(crate) const TOKEN: &str = "0123456789abcdef";
const KEY: [u8; 32] = [7; 32];

pub(crate) fn acp() -> Config {
    Config::new(Credentials::Shared(KEY))
}

pub(crate) fn local() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// A folder with a key and a token.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("key"), "07".repeat(32)).expect("a file");
    KeyFile::read(&folder.path().join("key")).expect("a key");
    std::fs::write(folder.path().join("token"), TOKEN).expect("a file");
    folder
}

/// A server that answers each frame with its own number and the frame's data.
pub(crate) fn serve(number: u8) -> Endpoint {
    serve_as(number).0
}

/// A server whose number may change.
pub(crate) fn serve_as(number: u8) -> (Endpoint, Rc<Cell<u8>>) {
    let endpoint = Endpoint::server(local(), acp()).expect("a server");
    let number = Rc::new(Cell::new(number));
    let (accepting, of_answers) = (endpoint.clone(), Rc::clone(&number));
    tokio::task::spawn_local(async move {
        while let Ok(connection) = accepting.accept().await {
            tokio::task::spawn_local(answer(connection, Rc::clone(&of_answers)));
        }
    });
    (endpoint, number)
}

async fn answer(connection: Connection, number: Rc<Cell<u8>>) {
    while let Ok(Some(frame)) = connection.receive().await {
        let mut data = vec![number.get()];
        data.extend(&frame.data);
        if connection.send(Frame::new(frame.id, data)).await.is_err() {
            return;
        }
    }
    connection.close().await.ok();
}

/// `[[member]]` for each server.
pub(crate) fn members(servers: &[(&str, &Endpoint)]) -> String {
    servers.iter().fold(String::new(), |mut text, (name, server)| {
        _ = write!(text, "[[member]]\nname = {name:?}\naddress = \"{}\"\n", server.address());
        text
    })
}

/// A switch that runs.
pub(crate) struct Switch {
    pub(crate) peers: SocketAddr,
    status: SocketAddr,
    pub(crate) register: SocketAddr,
    pub(crate) control: PathBuf,
    text: String,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Switch {
    /// Starts a switch with more keys, in which `REGISTER` stands for an address.
    pub(crate) fn start(folder: &Path, more: &str) -> Switch {
        let (peers, status, register) = (free_address(), free_address(), free_address());
        let text = format!(
            "key = \"key\"\nlisten = \"{peers}\"\nstatus = \"{status}\"\ncontrol = \"switch.sock\"\n\
             drain = \"10 ms\"\n{}",
            more.replace("REGISTER", &register.to_string())
        );
        Switch::run(folder, [peers, status, register], text)
    }

    fn run(folder: &Path, [peers, status, register]: [SocketAddr; 3], text: String) -> Switch {
        let config = config::Config::parse(&folder.join("switch.toml"), &text);
        let config = config.unwrap_or_else(|error| panic!("{error}"));
        let (stop, stopped) = oneshot::channel::<()>();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let stop = async { _ = stopped.await };
            let never = async || std::future::pending().await;
            let done = daemon::run(config, stop, never, || ready.send(()).expect("a test"));
            done.unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)));
        });
        is_ready.recv().expect("the switch starts");
        let control = folder.join("switch.sock");
        Switch { peers, status, register, control, text, stop, thread }
    }

    pub(crate) fn stop(self) {
        self.stop.send(()).expect("it runs");
        self.thread.join().expect("a clean end");
    }

    /// Ends it, and starts it again with the same addresses.
    pub(crate) fn restart(self, folder: &Path) -> Switch {
        let (addresses, text) = ([self.peers, self.status, self.register], self.text.clone());
        self.stop();
        Switch::run(folder, addresses, text)
    }

    pub(crate) async fn status(&self) -> Status {
        let status = self.status;
        let fetched = tokio::task::spawn_blocking(move || fetch_status(status)).await;
        fetched.expect("an answer").expect("a status")
    }

    pub(crate) async fn connect(&self) -> Connection {
        let client = Endpoint::client(local(), acp()).expect("a client");
        client.connect(self.peers).await.expect("a connection")
    }
}

/// Runs a test, which ends within a minute.
pub(crate) async fn in_time<T>(what: impl Future<Output = T>) -> T {
    let tasks = LocalSet::new();
    tokio::time::timeout(Duration::from_secs(60), tasks.run_until(what)).await.expect("an end")
}
