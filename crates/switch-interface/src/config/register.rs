//! `[register]`: members that register themselves.

use std::net::SocketAddr;
use std::path::Path;

use ratewire_config::Section;
use ratewire_units::Duration;

use super::member::is_name;
use super::{TokenSource, address};

const KEYS: &[&str] = &["ensemble", "gather", "lease", "listen", "members", "token", "token-env"];

/// Usual time of a lease, and of the wait for members that had registered before.
const USUAL: Duration = Duration::from_secs(5);

/// How members register themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisterConfig {
    /// Where members register.
    pub listen: SocketAddr,
    /// The secret that they show.
    pub token: TokenSource,
    /// What they must call the ensemble.
    pub ensemble: String,
    /// Places for them.
    pub members: u32,
    /// Time after which a registration ends that was not renewed.
    pub lease: Duration,
    /// Time from the switch's start in which members that had registered before may be missing.
    pub gather: Duration,
}

pub(super) fn read(root: &Section<'_>, folder: &Path) -> Option<RegisterConfig> {
    let table = root.table("[register]", KEYS)?;
    let file = table.text("token", "the name of a file");
    let variable = table.text("token-env", "the name of a variable of the environment");
    let token = match (file, variable) {
        (Some(file), None) => Some(TokenSource::File(folder.join(file.value))),
        (None, Some(variable)) => Some(TokenSource::Environment(variable.value.to_string())),
        (Some(_), Some(variable)) => {
            let help = "leave one of them out";
            table.note(&variable.span, "`token` and `token-env` both say where the token is", help);
            None
        }
        (None, None) => {
            if !table.has("token") && !table.has("token-env") {
                let help = "name a file, made by `ratewire-switch key FILE`, or a variable of the \
                            environment with `token-env`";
                table.missing("token", help);
            }
            None
        }
    };
    let ensemble = table.text("ensemble", "a name").filter(|name| {
        let is_good = is_name(name.value);
        if !is_good {
            let message = format!("an ensemble cannot be called {:?}", name.value);
            table.note(&name.span, message, "use up to 64 visible characters of ASCII");
        }
        is_good
    });
    let lease = table.quantity("lease", USUAL, Duration::from_secs(1)..=Duration::from_secs(3600));
    let gather = Duration::ZERO..=Duration::from_secs(3600);
    Some(RegisterConfig {
        listen: address(&table, "listen")
            .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 4818))),
        ensemble: ensemble.map_or("default", |name| name.value).to_string(),
        members: table.count("members", 16, 1..=256),
        // A member notices that the switch is another when it renews its registration.
        gather: table.quantity("gather", lease.max(USUAL), gather),
        lease,
        token: token?,
    })
}
