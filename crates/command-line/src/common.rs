//! Commands that every program has, and how its command line is parsed.

use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Command, Parser, Subcommand};
use clap_complete::Shell;
use ratewire_config::nearest;

use crate::exit::Exit;
use crate::generate::{Page, write_all};
use crate::output::print;
use crate::print_stderr;

/// Commands that every program has.
#[derive(Subcommand)]
pub enum Common {
    /// Print completions for a shell
    Completions {
        /// Name of the shell
        shell: Shell,
    },
    /// Write manual pages, completions and pages of the book
    #[command(hide = true)]
    Generate {
        /// Folder to write `man`, `completions` and `book` into
        folder: PathBuf,
    },
}

impl Common {
    /// Carries out the command for the program that `root` defines, which has `pages` in the book
    /// beside that of its help.
    pub fn run(&self, mut root: Command, pages: &[Page]) -> Exit {
        match self {
            Common::Completions { shell } => {
                let (mut out, name) = (Vec::new(), root.get_name().to_string());
                clap_complete::generate(*shell, &mut root, name, &mut out);
                print(&String::from_utf8_lossy(&out))
            }
            Common::Generate { folder } => match write_all(&root, pages, folder) {
                Ok(()) => Exit::Done,
                Err(e) => {
                    print_stderr!("ratewire: cannot write into {}: {e}", folder.display());
                    Exit::File
                }
            },
        }
    }
}

/// Parses the arguments of this process. Wrong ones end it, with the command that was probably
/// meant.
pub fn parse<P: Parser>() -> P {
    P::try_parse().unwrap_or_else(|wrong| suggesting(&P::command(), wrong).exit())
}

/// Adds the command that was probably meant: clap finds no similarity between `rnu` and `run`.
fn suggesting(root: &Command, mut wrong: clap::Error) -> clap::Error {
    let known = root.get_subcommands().filter(|known| !known.is_hide_set());
    if wrong.get(ContextKind::SuggestedSubcommand).is_none()
        && let Some(ContextValue::String(found)) = wrong.get(ContextKind::InvalidSubcommand)
        && let Some(near) = nearest(found, known.map(Command::get_name))
    {
        wrong.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near]));
    }
    wrong
}
