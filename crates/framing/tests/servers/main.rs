//! Real clients and real servers, with a gateway and members of this crate between them; for HTTP,
//! servers alone, which must read requests as this crate does.
//!
//! A test is skipped with a message where its server is not installed. Set
//! `RATEWIRE_REQUIRE_TOOLS=1` to fail instead.

#![expect(clippy::disallowed_methods, reason = "servers run beside the tests")]

mod between;
mod http1;
mod memcached;
mod redis;

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that ends with the test.
struct Server {
    process: Child,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts a server with arguments that have its port; `None` if it is not installed.
fn server(program: &str, arguments: impl Fn(u16) -> Vec<String>) -> Option<Server> {
    let address = ratewire_testing::free_address();
    let mut command = Command::new(program);
    command.args(arguments(address.port())).stdout(Stdio::null()).stderr(Stdio::null());
    let process = match command.spawn() {
        Ok(process) => process,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
            assert!(!required, "RATEWIRE_REQUIRE_TOOLS=1, but {program} is not installed");
            eprintln!("skipped: {program} is not installed");
            return None;
        }
        Err(error) => panic!("{program} does not start: {error}"),
    };
    let server = Server { process, address };
    for _ in 0..200 {
        if TcpStream::connect(address).is_ok() {
            return Some(server);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{program} does not listen at {address}");
}
