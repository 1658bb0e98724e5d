//! `ratewire-groups receive`: prints what comes to groups.

use std::cell::Cell;
use std::io::IsTerminal;
use std::rc::Rc;

use ratewire_command_line::{Exit, print, print_on};
use ratewire_groups::client::{Connection, GroupName, Received};
use ratewire_units::text::legible_lines;

use super::many::Many;
use super::trouble::End;
use super::{count, messages};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Groups to join
    #[arg(value_name = "GROUP", required = true)]
    groups: Vec<GroupName>,
    #[command(flatten)]
    many: Many,
    /// Messages of each client after which it ends [default: any number]
    #[arg(long, value_name = "N", value_parser = count)]
    count: Option<u64>,
    /// Print no messages, but how many came, at the end
    #[arg(short, long)]
    quiet: bool,
}

/// Messages and bytes that have come to a client, over all of its connections.
#[derive(Clone, Copy, Default)]
struct Sum {
    messages: u64,
    bytes: u64,
}

/// Receives until the user ends the command.
pub(super) async fn receive(args: &Args) -> Exit {
    let sum = Rc::new(vec![Cell::new(Sum::default()); args.many.clients as usize]);
    let (shared, groups) = (Rc::clone(&sum), Rc::new(args.groups.clone()));
    let (is_quiet, count) = (args.quiet, args.count.unwrap_or(u64::MAX));
    let one = move |me: usize, connection| {
        let (sum, groups) = (Rc::clone(&shared), Rc::clone(&groups));
        async move { take(connection, &groups, count, is_quiet, &sum[me]).await }
    };
    let exit = args.many.run(one).await;
    let sum_of = |of: fn(Sum) -> u64| sum.iter().map(|sum| of(sum.get())).sum::<u64>();
    let bytes = sum_of(|sum| sum.bytes);
    match is_quiet {
        true if exit == Exit::Done => {
            print(&format!("{}, {bytes} bytes\n", messages(sum_of(|sum| sum.messages))))
        }
        _ => exit,
    }
}

async fn take(
    mut connection: Connection,
    groups: &[GroupName],
    count: u64,
    is_quiet: bool,
    sum: &Cell<Sum>,
) -> Result<(), End> {
    for group in groups {
        connection.join(*group).await?;
    }
    let is_terminal = std::io::stdout().is_terminal();
    while sum.get().messages < count {
        let Received::Message { message, .. } = connection.receive().await? else { continue };
        let Sum { messages, bytes } = sum.get();
        sum.set(Sum { messages: messages + 1, bytes: bytes + message.data.len() as u64 });
        if !is_quiet {
            print_on(line(&message.data, is_terminal)).map_err(End::Output)?;
        }
    }
    Ok(connection.disconnect().await?)
}

/// A message as it is printed: byte for byte for programs, and without control of a terminal.
fn line(data: &[u8], is_terminal: bool) -> Vec<u8> {
    let mut line = match is_terminal {
        true => legible_lines(&String::from_utf8_lossy(data)).into_bytes(),
        false => data.to_vec(),
    };
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn messages_do_not_control_a_terminal() {
        let sent = b"a\tb\n\x1b]0;title\x07\xff";
        assert_eq!(line(sent, true), "a\tb\n\\u001b]0;title\\u0007\u{fffd}\n".as_bytes());
        assert_eq!(line(sent, false), [&sent[..], b"\n"].concat());
    }
}
