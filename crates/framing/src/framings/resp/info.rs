//! What `INFO` says of the gateway.

use std::fmt::Write;

use super::arguments::Argument;

/// The version of Redis whose clients find here what they expect.
pub const REDIS_VERSION: &str = "7.0.0";

/// Sections with their fields. Clients ask whether the server is ready (`loading`), what it can do
/// (`redis_version`), and whether it is one of a cluster.
const SECTIONS: &[(&str, &[(&str, &str)])] = &[
    (
        "Server",
        &[
            ("redis_version", REDIS_VERSION),
            ("redis_mode", "standalone"),
            ("arch_bits", "64"),
            ("server_name", "ratewire"),
        ],
    ),
    ("Persistence", &[("loading", "0"), ("async_loading", "0")]),
    ("Replication", &[("role", "master"), ("connected_slaves", "0")]),
    ("Cluster", &[("cluster_enabled", "0")]),
    ("Ratewire", &[("ratewire_version", env!("CARGO_PKG_VERSION")), ("ratewire_role", "gateway")]),
];

/// The sections of these names, or all.
pub fn info(names: &[Argument<'_>]) -> String {
    let is = |name: &Argument<'_>, section: &str| name.eq_ignore_ascii_case(section.as_bytes());
    let is_asked = |section: &str| {
        let all = ["all", "default", "everything", section];
        names.is_empty() || names.iter().any(|name| all.iter().any(|all| is(name, all)))
    };
    let mut text = String::new();
    for (section, fields) in SECTIONS.iter().filter(|(section, _)| is_asked(section)) {
        let between = if text.is_empty() { "" } else { "\r\n" };
        // Writing to a string does not fail.
        let _ = write!(text, "{between}# {section}\r\n");
        fields.iter().for_each(|(name, value)| {
            let _ = write!(text, "{name}:{value}\r\n");
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::arguments::of_line;
    use super::*;

    #[test]
    fn sections_are_those_that_are_asked_for() {
        let of = |line: &str| info(&of_line(line.as_bytes()).unwrap());
        let replication = "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n";
        assert_eq!(of("replication"), replication);
        assert_eq!(
            of("CLUSTER Replication none"),
            format!("{replication}\r\n# Cluster\r\ncluster_enabled:0\r\n")
        );
        let all = of("");
        assert_eq!((of("all"), of("x Everything")), (all.clone(), all.clone()));
        for field in ["\r\nloading:0\r\n", "\r\nredis_version:7", "\r\nratewire_version:"] {
            assert!(all.contains(field), "{field}: {all}");
        }
        assert_eq!(of("commandstats"), "");
    }
}
