//! Lines that everyone in a group reads in the same order, whichever daemon they are at.
//!
//! `cargo run -p ratewire-groups --example chat 4803@localhost ann`
//!
//! Each line of the input goes to the group `chat`. What arrives is printed: who is there, and who
//! says what. The end of the input ends the program. `ratewire-groups daemon` starts a daemon.

#![expect(clippy::disallowed_methods, reason = "one thread reads the input, one the connection")]
#![expect(clippy::print_stdout, reason = "that is what it is for")]

use std::error::Error;
use std::io::stdin;
use std::thread;

use ratewire_groups::client::blocking::{Connection, Receiver};
use ratewire_groups::client::{Address, Options, Received, Request, Service};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, name] = &arguments[..] else {
        return Err(
            "two arguments are needed: the daemon, such as 4803@localhost, and a name".into()
        );
    };
    let address: Address = address.parse()?;
    let options = Options { name: Some(name.parse()?), membership: true, ..Options::default() };
    let chat = "chat".parse()?;
    let mut connection = Connection::connect(&address, options)?;
    connection.join(chat)?;
    let (mut sender, receiver) = connection.split();
    let printing = thread::spawn(move || print(receiver));
    for line in stdin().lines() {
        // Agreed: all members see all messages and all changes of the group in one order. A call
        // waits while the group cannot take more.
        sender.multicast(Service::Agreed, &[chat], 0, line?)?;
    }
    // Messages of one sender arrive in order: after its leave, none of its own are on their way.
    sender.leave(chat)?;
    printing.join().map_err(|_| "the thread that prints has panicked")??;
    sender.send(&Request::Disconnect)?;
    Ok(())
}

/// Prints what arrives until the client has left the group.
fn print(mut receiver: Receiver) -> Result<(), ratewire_groups::client::Error> {
    loop {
        match receiver.receive()? {
            Received::Message { sender, message } => {
                println!("{sender}: {}", String::from_utf8_lossy(&message.data));
            }
            Received::Membership(membership) => {
                let members: Vec<String> =
                    membership.members.iter().map(ToString::to_string).collect();
                println!("here: {}", members.join(" "));
            }
            Received::Left(_) => return Ok(()),
            _ => {}
        }
    }
}
