//! A server in a thread, and a client that writes its requests byte by byte.
#![expect(clippy::disallowed_methods, reason = "the server runs in a thread of its own")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use ratewire::{Experiment, Listener};
use ratewire_explore::{Explored, Server, Subject};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// Two flows under one law for four seconds: some milliseconds of work.
pub(crate) const HELLO: &str = r#"
name     = "Hello"
duration = "4 s"
law      = "newreno"

[topology]
kind       = "dumbbell"
pairs      = 2
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = "1 bdp" }

[[flow]]
from = "s*"
to   = "d*"
"#;

/// A page that is served until it is dropped.
pub(crate) struct Served {
    url: String,
    /// Its drop ends the server.
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    /// Serves the scenario in a file.
    pub(crate) fn scenario(file: &Path) -> Served {
        Served::watched(file, Arc::new(()))
    }

    /// Serves the scenario in a file; the listener observes every run.
    pub(crate) fn watched(file: &Path, listener: Arc<dyn Listener + Send + Sync>) -> Served {
        Served::subject(Subject::Scenario(Box::new(Explored {
            experiment: Experiment::load(file).expect("a scenario"),
            file: file.display().to_string(),
            laws: Vec::new(),
            listener,
        })))
    }

    pub(crate) fn subject(subject: Subject) -> Served {
        Served::with_patience(subject, Duration::from_secs(60))
    }

    /// Serves a page whose clients may read nothing for this long.
    pub(crate) fn with_patience(subject: Subject, patience: Duration) -> Served {
        let (end, ended) = oneshot::channel::<()>();
        let (ready, url) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let any: SocketAddr = "127.0.0.1:0".parse().expect("an address");
                let server = Server::bind(any, subject).await.expect("a server");
                let server = server.write_patience(patience);
                ready.send(server.url()).expect("the test waits");
                tokio::select! {
                    () = server.serve() => {}
                    _ = ended => {}
                }
            });
        });
        let url = url.recv().expect("an address");
        Served { url, end: Some(end), thread: Some(thread) }
    }

    /// The host with its port, and the token.
    pub(crate) fn parts(&self) -> (&str, &str) {
        let rest = self.url.strip_prefix("http://").expect("HTTP");
        rest.split_once("/?token=").expect("a token")
    }

    /// Sends the bytes of a request; the answer may still come.
    pub(crate) fn send(&self, request: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.parts().0).expect("a connection");
        // A server that has refused may have closed already.
        _ = stream.write_all(request);
        stream
    }

    /// The whole answer to a request.
    pub(crate) fn ask(&self, request: &str) -> String {
        let mut answer = Vec::new();
        _ = self.send(request.as_bytes()).read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// A POST to a path, with the token and this body.
    pub(crate) fn post(&self, path: &str, body: &str) -> TcpStream {
        let (host, token) = self.parts();
        let head = format!(
            "POST {path}?token={token} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.send((head + body).as_bytes())
    }

    /// Begins a run with values and laws, after the results `before`.
    pub(crate) fn run(&self, values: &[(&str, &str)], laws: &[&str], before: Option<u64>) -> Lines {
        let body = json!({ "page": "one", "values": values, "laws": laws, "before": before });
        Lines(BufReader::new(self.post("/run", &body.to_string())))
    }

    /// Begins a run of another page with values.
    pub(crate) fn run_of(&self, page: &str, values: &[(&str, &str)]) -> Lines {
        let body = json!({ "page": page, "values": values, "laws": ["newreno"] });
        Lines(BufReader::new(self.post("/run", &body.to_string())))
    }

    /// Stops the run of a page, and returns the answer.
    pub(crate) fn stop(&self, page: &str) -> String {
        let mut answer = String::new();
        let mut stream = self.post("/stop", &json!({ "page": page }).to_string());
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            assert!(thread.join().is_ok() || std::thread::panicking(), "the server has panicked");
        }
    }
}

/// The lines of JSON in a streamed answer.
pub(crate) struct Lines(BufReader<TcpStream>);

impl Lines {
    /// Waits until the server has taken the request.
    pub(crate) fn begun(mut self) -> Lines {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a status line");
        assert!(line.starts_with("HTTP/1.1 200 "), "{line}");
        self
    }
}

impl Iterator for Lines {
    type Item = Value;

    /// The next line; heads and the sizes of chunks are passed over.
    fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            if line.starts_with('{') {
                return Some(serde_json::from_str(&line).expect("a line of JSON"));
            }
        }
    }
}
