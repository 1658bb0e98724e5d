//! `ratewire-groups certificates`: makes certificates for daemons.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use ratewire_command_line::{Exit, print, refuse, with_causes};
use ratewire_groups::certificates::{CertificateError, Making, add, make};
use ratewire_groups::config::{Config, Protection};

#[derive(clap::Args)]
#[command(override_usage = "ratewire-groups certificates [OPTIONS] --config <FILE> [DIR]\n       \
                            ratewire-groups certificates [OPTIONS] <DIR> <NAME>...")]
pub(crate) struct Args {
    /// Folder to write the set into [default: `certificates` of the file]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Names of all daemons, without --config
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Make certificates for the daemons of this groups.toml
    #[arg(long, value_name = "FILE", conflicts_with = "names")]
    config: Option<PathBuf>,
    /// Replace a set; every daemon then needs its new files
    #[arg(long)]
    overwrite: bool,
    /// Write the authority's key, ca.key, too, with which --add makes certificates later. Who has
    /// it can be any daemon
    #[arg(long)]
    keep_authority: bool,
    /// Make certificates only for daemons that have none in the folder, with its ca.key
    #[arg(long, conflicts_with_all = ["overwrite", "keep_authority"])]
    add: bool,
}

pub(super) fn certificates(args: &Args) -> Exit {
    let (folder, names) = match whose(args) {
        Ok(whose) => whose,
        Err(exit) => return exit,
    };
    let daemons: Vec<&str> = names.iter().map(String::as_str).collect();
    #[expect(clippy::disallowed_methods, reason = "certificates are valid from now on")]
    let now = std::time::SystemTime::now();
    let making = Making { overwrites: args.overwrite, keeps_key: args.keep_authority };
    let made = match args.add {
        true => add(&folder, &daemons, now),
        false => make(&folder, &daemons, now, making),
    };
    match made {
        Ok(files) => print(&described(&folder, &daemons, &files)),
        Err(error) => fail(&error),
    }
}

/// The set's folder, and the names of the daemons.
fn whose(args: &Args) -> Result<(PathBuf, Vec<String>), Exit> {
    let Some(file) = &args.config else {
        return match &args.folder {
            Some(folder) if !args.names.is_empty() => Ok((folder.clone(), args.names.clone())),
            _ => Err(nobody()),
        };
    };
    let config = Config::read(file).map_err(|error| refuse(&error))?;
    let daemons = config.daemons.into_iter().filter(|daemon| !daemon.is_retired);
    let names = daemons.map(|daemon| daemon.name).collect();
    match (&args.folder, config.protection) {
        (Some(folder), _) => Ok((folder.clone(), names)),
        (None, Protection::Certificates(folder)) => Ok((folder, names)),
        (None, Protection::Plaintext) => {
            print_stderr!(
                "ratewire: {} names no folder for certificates\n  \
                 help: write `certificates = \"certificates\"` at its top, or name a folder: \
                 `ratewire-groups certificates DIR --config FILE`",
                file.display()
            );
            Err(Exit::Wrong)
        }
    }
}

/// Tells that the command line names no daemons. clap would ask for a folder and names only.
fn nobody() -> Exit {
    print_stderr!(
        "ratewire: no daemons are named, so no certificates can be made\n  \
         help: `--config groups.toml` makes those of the file's daemons; without a file, name a \
         folder and all daemons: `ratewire-groups certificates DIR NAME...`"
    );
    Exit::Wrong
}

fn fail(error: &CertificateError) -> Exit {
    print_stderr!("ratewire: {}\n  help: {}", with_causes(error), error.help());
    match error {
        CertificateError::Name(_) => Exit::Wrong,
        _ => Exit::File,
    }
}

/// What was written, and which files each daemon's host needs.
fn described(folder: &Path, daemons: &[&str], files: &[PathBuf]) -> String {
    if files.is_empty() {
        return "every daemon has a certificate\n".to_string();
    }
    let mut text = format!("{} files written into {}\n", files.len(), folder.display());
    let is_new = |name: &&&str| files.contains(&folder.join(format!("{name}.pem")));
    for name in daemons.iter().filter(is_new) {
        _ = writeln!(text, "copy to the host of {name}: ca.pem {name}.pem {name}.key");
    }
    text += "A key proves who a daemon is: copy each to its own host only, then delete it here.\n\
             In groups.toml, `certificates` names the folder with these files on every host.\n";
    if files.contains(&folder.join("ca.key")) {
        text += "Whoever has ca.key can be any daemon: keep it where none runs.\n";
    }
    ratewire_units::text::legible_lines(&text)
}
