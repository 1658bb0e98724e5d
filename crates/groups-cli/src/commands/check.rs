//! `ratewire-groups check`: checks a `groups.toml`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use ratewire_command_line::{Exit, print, refuse, with_causes};
use ratewire_groups::certificates::{CertificateError, Identity};
use ratewire_groups::config::{Config, Daemon, Listen, Protection};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file; without one, the configuration of a daemon that is started without a file
    file: Option<PathBuf>,
}

pub(super) fn check(args: &Args) -> Exit {
    let config = match args.file.as_deref().map_or_else(|| Ok(Config::single()), Config::read) {
        Ok(config) => config,
        Err(error) => return refuse(&error),
    };
    let mut exit = Exit::Done;
    if let Protection::Certificates(folder) = &config.protection {
        exit = check_certificates(folder, &config.daemons);
    }
    Exit::of([print(&described(&config)), exit])
}

/// Checks the certificates of daemons whose key is in the folder. Each host has its own daemon's
/// key only.
fn check_certificates(folder: &Path, daemons: &[Daemon]) -> Exit {
    let names = daemons.iter().map(|daemon| daemon.name.as_str());
    let names = names.filter(|name| folder.join(format!("{name}.key")).exists());
    let results: Vec<Result<_, CertificateError>> =
        names.map(|name| Identity::load(folder, name)).collect();
    if results.is_empty() {
        print_stderr!(
            "warning: the folder {} has no key of a daemon\n  \
             help: `ratewire-groups certificates --config FILE` makes all keys",
            folder.display()
        );
    }
    let mut exit = Exit::Done;
    for error in results.iter().filter_map(|result| result.as_ref().err()) {
        print_stderr!("ratewire: {}\n  help: {}", with_causes(error), error.help());
        exit = Exit::Wrong;
    }
    exit
}

/// A line for each daemon.
fn described(config: &Config) -> String {
    let mut text = String::new();
    for (place, daemon) in config.daemons.iter().enumerate() {
        if daemon.is_retired {
            _ = writeln!(text, "{}: retired", daemon.name);
            continue;
        }
        let listen: Vec<String> = daemon.listen.iter().map(Listen::to_string).collect();
        _ = write!(text, "{}: clients at {}", daemon.name, listen.join(", "));
        if let Some(status) = daemon.status {
            _ = write!(text, "; status at {status}");
        }
        let links: Vec<String> = links(config, place).collect();
        if let (Some(address), false) = (daemon.address, links.is_empty()) {
            _ = write!(text, "; daemons at {address}; links to {}", links.join(", "));
            text += &match &config.protection {
                Protection::Certificates(folder) => {
                    let file = folder.join(format!("{}.pem", daemon.name));
                    format!("; TLS with {}", file.display())
                }
                Protection::Plaintext => "; links in plaintext".to_string(),
            };
        }
        text.push('\n');
    }
    ratewire_units::text::legible_lines(&text)
}

/// The daemons to which one is linked, each with the length of the link.
fn links(config: &Config, place: usize) -> impl Iterator<Item = String> {
    config.links.iter().filter_map(move |link| {
        let [a, b] = link.ends.map(|end| end.index());
        let other = match place {
            place if place == a => b,
            place if place == b => a,
            _ => return None,
        };
        let other = &config.daemons[other];
        (!other.is_retired).then(|| format!("{} ({})", other.name, link.delay))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &str = r#"
certificates = "set"
[[daemon]]
name = "paris"
address = "10.0.0.1:4804"
listen = ["0.0.0.0:4803", "unix:/run/groups.sock"]
status = "127.0.0.1:4809"
[[daemon]]
name = "tokyo"
address = "10.0.0.2:4804"
[[link]]
between = ["paris", "tokyo"]
delay = "120 ms"
"#;

    #[test]
    fn each_daemon_has_a_line() {
        let config = Config::parse(Path::new("etc/groups.toml"), THREE).expect("no mistakes");
        assert_eq!(
            described(&config),
            "paris: clients at 0.0.0.0:4803, unix:/run/groups.sock; status at 127.0.0.1:4809; \
             daemons at 10.0.0.1:4804; links to tokyo (120 ms); TLS with etc/set/paris.pem\n\
             tokyo: clients at 127.0.0.1:4803, unix:/tmp/4803; daemons at 10.0.0.2:4804; links to \
             paris (120 ms); TLS with etc/set/tokyo.pem\n"
        );
        assert_eq!(
            described(&Config::single()),
            "localhost: clients at 127.0.0.1:4803, unix:/tmp/4803; status at 127.0.0.1:4809\n"
        );
    }
}
