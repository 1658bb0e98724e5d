//! The command's end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{DONE, LONGEST, REFUSED, line};
use ratewire_status::Program;

/// Time for the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What keeps a command from being carried out.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// Nothing takes commands at the path.
    #[error("no {} takes commands at {}", .0.noun, .1.display())]
    Unreachable(&'static Program, PathBuf, #[source] io::Error),
    /// No answer has come: whether the command was carried out is not known.
    #[error("the {} at {} has not answered", .0.noun, .1.display())]
    Unanswered(&'static Program, PathBuf, #[source] io::Error),
    /// The daemon refuses the command; why.
    #[error("{0}")]
    Refused(String),
}

impl ControlError {
    /// What to do.
    pub fn help(&self) -> String {
        match self {
            ControlError::Unreachable(program, _, error) => {
                let Program { noun, file, .. } = program;
                match error.kind() {
                    io::ErrorKind::PermissionDenied => {
                        format!("run the command as the {noun}'s user, or as root")
                    }
                    _ => format!("start a {noun} whose {file} has the key `control`"),
                }
            }
            ControlError::Unanswered(Program { command, .. }, ..) => {
                format!("see what has become of it with `{command} status`")
            }
            ControlError::Refused(_) => "nothing was changed".to_string(),
        }
    }
}

/// Has the daemon at a path carry out a command. Returns what it says; waits up to 10 s.
///
/// # Errors
/// If no daemon takes commands there, or it refuses this one.
pub fn command(
    program: &'static Program,
    path: &Path,
    words: &[&str],
) -> Result<String, ControlError> {
    let unreachable = |error| ControlError::Unreachable(program, path.to_path_buf(), error);
    let mut stream = UnixStream::connect(path).map_err(unreachable)?;
    let answer = ask(&mut stream, words);
    let unanswered = |error| ControlError::Unanswered(program, path.to_path_buf(), error);
    let answer = answer.map_err(unanswered)?;
    let answer = answer.trim_end();
    match (answer.strip_prefix(DONE), answer.strip_prefix(REFUSED)) {
        (Some(done), _) => Ok(done.to_string()),
        (None, Some(why)) => Err(ControlError::Refused(why.to_string())),
        (None, None) => Err(unanswered(io::ErrorKind::UnexpectedEof.into())),
    }
}

fn ask(stream: &mut UnixStream, words: &[&str]) -> io::Result<String> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(line(&words.join(" ")).as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream.take(LONGEST)).read_line(&mut answer)?;
    Ok(answer)
}
