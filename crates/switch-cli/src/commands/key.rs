//! `ratewire-switch key`: makes a key.

use std::path::PathBuf;

use ratewire_command_line::{Exit, with_causes};
use ratewire_switch::key::KeyFile;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// A new file; give the other end a copy of it
    file: PathBuf,
}

pub(super) fn key(args: &Args) -> Exit {
    match KeyFile::make(&args.file) {
        Ok(()) => Exit::Done,
        Err(error) => {
            print_stderr!("ratewire: {}\n  help: {}", with_causes(&error), error.help());
            Exit::File
        }
    }
}
