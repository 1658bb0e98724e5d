//! `ratewire-switch check`: checks a `switch.toml`.

use std::fmt::Write;
use std::path::PathBuf;

use ratewire_command_line::{Exit, print, refuse, with_causes};
use ratewire_daemon::secret::others_may_read;
use ratewire_switch::config::{Config, PeerConfig, RegisterConfig, RoutingConfig, TokenSource};
use ratewire_switch::daemon::check_module;
use ratewire_switch::key::KeyFile;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The file
    #[arg(default_value = "switch.toml")]
    file: PathBuf,
}

pub(super) fn check(args: &Args) -> Exit {
    let config = match Config::read(&args.file) {
        Ok(config) => config,
        Err(error) => return refuse(&error),
    };
    let mut exit = Exit::Done;
    let mut files = vec![&config.key, &config.member_key];
    files.dedup();
    for error in files.iter().filter_map(|file| KeyFile::read(file).err()) {
        print_stderr!("ratewire: {}\n  help: {}", with_causes(&error), error.help());
        exit = Exit::Wrong;
    }
    // The environment of the switch may be another one than that of this command.
    let token = config.register.as_ref().map(|register| &register.token);
    let token = token.filter(|token| matches!(token, TokenSource::File(_)));
    if let Some(TokenSource::File(file)) = token {
        files.push(file);
    }
    for file in files.into_iter().filter(|file| others_may_read(file)) {
        let file = file.display();
        print_stderr!("ratewire: other users may read {file}\n  help: chmod 600 {file}");
    }
    if let Some(Err(error)) = token.map(TokenSource::read) {
        print_stderr!("ratewire: {}\n  help: {}", with_causes(&error), error.help());
        exit = Exit::Wrong;
    }
    if let Err(error) = check_module(&config) {
        print_stderr!("ratewire: {}\n  help: {}", with_causes(&error), error.help());
        exit = Exit::Wrong;
    }
    Exit::of([print(&described(&config)), exit])
}

fn described(config: &Config) -> String {
    let mut text = format!("peers at {}", config.listen);
    if let Some(status) = config.status {
        _ = write!(text, "; status at {status}");
    }
    let routing = match &config.routing {
        RoutingConfig::RoundRobin => "one after the other".to_string(),
        RoutingConfig::Weighted => "by weight".to_string(),
        RoutingConfig::LeastOutstanding => "to the member that owes the least".to_string(),
        RoutingConfig::PowerOfTwo => "to the better of two random members".to_string(),
        RoutingConfig::Hash { offset, length } => {
            format!("by a hash of the {length} bytes from byte {offset} on")
        }
        RoutingConfig::Prefix => "by first bytes".to_string(),
        RoutingConfig::Wasm(path) => format!("by the module {}", path.display()),
    };
    _ = writeln!(text, "; frames go {routing}");
    if let Some(PeerConfig { address, law }) = &config.peer {
        let law = law.as_deref().unwrap_or(ratewire_acp::Config::USUAL_LAW);
        _ = writeln!(text, "connects to the peer at {address}, with the law {law}");
    }
    for member in &config.members {
        _ = write!(text, "{}: {}", member.name, member.address);
        if config.routing == RoutingConfig::Weighted {
            _ = write!(text, "; weight {}", member.weight);
        }
        if config.routing == RoutingConfig::Prefix && !member.prefixes.is_empty() {
            _ = write!(text, "; prefixes {:?}", member.prefixes);
        }
        text.push('\n');
    }
    if let Some(register) = &config.register {
        let RegisterConfig { listen, members, ensemble, .. } = register;
        _ = writeln!(text, "up to {members} members of {ensemble:?} register at {listen}");
    }
    if let Some(probe) = &config.probe {
        let (bytes, interval) = (probe.frame.len(), probe.interval);
        _ = writeln!(text, "members are sent a probe of {bytes} bytes every {interval}");
    }
    ratewire_units::text::legible_lines(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_member_has_a_line() {
        let text = "key = \"k\"\nstatus = \"127.0.0.1:4817\"\nrouting = \"weighted\"\n\
                    [[member]]\nname = \"a\"\naddress = \"10.0.0.2:4816\"\nweight = 2\n\
                    [[member]]\nname = \"b\"\naddress = \"10.0.0.3:4816\"\n\
                    [register]\ntoken = \"t\"\n[probe]\nframe = \"ping\"\n\
                    [peer]\naddress = \"127.0.0.2:4816\"\nlaw = \"rcp,alpha=0.3\"\n";
        let config = Config::parse(Path::new("switch.toml"), text).expect("no mistakes");
        assert_eq!(
            described(&config),
            "peers at 127.0.0.1:4816; status at 127.0.0.1:4817; frames go by weight\n\
             connects to the peer at 127.0.0.2:4816, with the law rcp alpha=0.3\n\
             a: 10.0.0.2:4816; weight 2\nb: 10.0.0.3:4816; weight 1\n\
             up to 16 members of \"default\" register at 127.0.0.1:4818\n\
             members are sent a probe of 4 bytes every 1 s\n"
        );
    }
}
