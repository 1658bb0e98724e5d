//! Lines that a person types.

use bytes::Bytes;
use ratewire_groups::client::GroupName;

/// Commands, as `/help` shows them.
pub(super) const HELP: &str = "\
TEXT           send the text to all groups that you have joined
//TEXT         send a text that starts with one /
/to G TEXT     send the text to one group, or to one client by its name, as in #name#daemon;
               nobody says so if no client of that name is connected
/join G        join a group
/leave G       leave a group
/members       list the members of your groups
/quit          leave all groups and end, as the end of the input does
";

/// What a line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// Send to all joined groups.
    Say(Bytes),
    /// Send to one group or client.
    To(GroupName, Bytes),
    /// Join a group.
    Join(GroupName),
    /// Leave a group.
    Leave(GroupName),
    /// List the members.
    Members,
    /// End.
    Quit,
    /// Show the commands.
    Help,
}

/// Reads a line without its end; `None` if the line is empty.
///
/// # Errors
/// What is wrong with a command, and what is allowed.
pub(super) fn parse(mut line: Bytes) -> Result<Option<Input>, String> {
    if line.last() == Some(&b'\r') {
        line.truncate(line.len() - 1);
    }
    if line.is_empty() {
        return Ok(None);
    }
    if line[0] != b'/' {
        return Ok(Some(Input::Say(line)));
    }
    if line.starts_with(b"//") {
        return Ok(Some(Input::Say(line.slice(1..))));
    }
    let (command, rest) = split(&line.slice(1..));
    let (first, text) = split(&rest);
    let needs_none = |input| match rest.is_empty() {
        true => Ok(Some(input)),
        false => Err(format!("/{} takes no argument", lossy(&command))),
    };
    let group = |usage: &str| match first.is_empty() {
        true => Err(format!("a name is missing: {usage}")),
        false => lossy(&first).parse::<GroupName>().map_err(|error| error.to_string()),
    };
    let only_group = |usage: &str| match text.is_empty() {
        true => group(usage),
        false => Err(format!("too many words: {usage}")),
    };
    match &command[..] {
        b"to" => Ok(Some(Input::To(group("/to G TEXT")?, text))),
        b"join" => Ok(Some(Input::Join(only_group("/join G")?))),
        b"leave" => Ok(Some(Input::Leave(only_group("/leave G")?))),
        b"members" => needs_none(Input::Members),
        b"quit" => needs_none(Input::Quit),
        b"help" => needs_none(Input::Help),
        _ => Err(format!("no command is called /{}; /help lists all", lossy(&command))),
    }
}

/// The first word, and what follows the blank after it.
fn split(text: &Bytes) -> (Bytes, Bytes) {
    match text.iter().position(|byte| *byte == b' ') {
        Some(end) => (text.slice(..end), text.slice(end + 1..)),
        None => (text.clone(), Bytes::new()),
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &'static str) -> Result<Option<Input>, String> {
        parse(Bytes::from_static(line.as_bytes()))
    }

    #[test]
    fn lines_are_texts_or_commands() {
        let say = |text| Ok(Some(Input::Say(Bytes::from_static(text))));
        let group = "chat".parse().unwrap();
        assert_eq!(read("hello  you"), say(b"hello  you"));
        assert_eq!(read("hello\r"), say(b"hello"));
        assert_eq!(read("//etc"), say(b"/etc"));
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("/join chat"), Ok(Some(Input::Join(group))));
        assert_eq!(read("/leave chat"), Ok(Some(Input::Leave(group))));
        assert_eq!(read("/to chat a b"), Ok(Some(Input::To(group, Bytes::from_static(b"a b")))));
        let private = "#ann#paris".parse().unwrap();
        assert_eq!(read("/to #ann#paris x"), Ok(Some(Input::To(private, "x".into()))));
        assert_eq!(read("/quit"), Ok(Some(Input::Quit)));
    }

    #[test]
    fn mistakes_are_told() {
        assert_eq!(read("/jion a").unwrap_err(), "no command is called /jion; /help lists all");
        assert_eq!(read("/join").unwrap_err(), "a name is missing: /join G");
        assert_eq!(read("/join a b").unwrap_err(), "too many words: /join G");
        assert_eq!(read("/quit now").unwrap_err(), "/quit takes no argument");
        assert!(read("/join ä").unwrap_err().contains("1 to 31"));
    }

    #[test]
    fn help_shows_every_command() {
        for command in ["to", "join", "leave", "members", "quit"] {
            assert!(HELP.contains(&format!("\n/{command} ")), "{command}");
        }
        // Spread's protocol has no word for it.
        assert!(HELP.contains("if no client of that name is connected"));
    }
}
