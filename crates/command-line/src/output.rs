//! Standard output, and the text of errors.

use std::io::Write;

use crate::exit::Exit;
use crate::print_stderr;

/// Prints to standard output. A closed pipe, as after `head`, is no error.
pub fn print(text: &str) -> Exit {
    print_on(text).unwrap_or_else(|exit| exit)
}

/// Prints to standard output; an error is the exit code for callers that would print on.
pub fn print_on(text: impl AsRef<[u8]>) -> Result<Exit, Exit> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_ref()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Exit::Done),
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Err(Exit::Done),
        Err(e) => {
            print_stderr!("ratewire: cannot write to standard output: {e}");
            Err(Exit::File)
        }
    }
}

/// Text of an error, with its causes.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        // Some errors already name their cause.
        let more = cause.to_string();
        if !text.contains(&more) {
            text += &format!(": {more}");
        }
        source = cause.source();
    }
    text
}
