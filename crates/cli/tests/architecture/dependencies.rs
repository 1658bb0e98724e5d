//! The crates of others that the workspace is built with: licences, versions, sources and bans.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{cargo, metadata};

/// Licences that a dependency may have.
const LICENCES: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Where all dependencies come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Crates that may not be used, and why.
const BANNED: [(&str, &str); 4] = [
    ("aws-lc-sys", "needs a C++ compiler and CMake; ring is the one library of cryptography"),
    ("openssl-sys", "needs a library of the machine; TLS is rustls's"),
    ("rustybuzz", "is no longer maintained"),
    ("ttf-parser", "is no longer maintained"),
];

/// Banned crates that dependencies bring along for now, and why.
const EXCEPTIONS: [(&str, &str); 2] = [
    (
        "rustybuzz",
        "usvg 0.45 shapes text with it; figures contain only text of our own, in our fonts",
    ),
    ("ttf-parser", "usvg 0.45 and svg2pdf 0.13 read fonts with it; the fonts are our own"),
];

/// The parts of an SPDX expression. Old manifests write `/` for `OR`.
fn tokens(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(str::to_string).collect()
}

/// Whether licences of the list satisfy an SPDX expression; `None` if it cannot be read.
fn is_satisfied(expression: &str, list: &[&str]) -> Option<bool> {
    let tokens = tokens(expression);
    let mut rest = &tokens[..];
    let satisfied = alternatives(&mut rest, list)?;
    rest.is_empty().then_some(satisfied)
}

/// Takes the next token if it is this word.
fn take(rest: &mut &[String], word: &str) -> bool {
    let is_next = rest.first().is_some_and(|token| token == word);
    if is_next {
        *rest = &rest[1..];
    }
    is_next
}

fn alternatives(rest: &mut &[String], list: &[&str]) -> Option<bool> {
    let mut satisfied = all_of(rest, list)?;
    while take(rest, "OR") {
        satisfied |= all_of(rest, list)?;
    }
    Some(satisfied)
}

/// `AND` binds more tightly than `OR`.
fn all_of(rest: &mut &[String], list: &[&str]) -> Option<bool> {
    let mut satisfied = term(rest, list)?;
    while take(rest, "AND") {
        satisfied &= term(rest, list)?;
    }
    Some(satisfied)
}

fn term(rest: &mut &[String], list: &[&str]) -> Option<bool> {
    if take(rest, "(") {
        let satisfied = alternatives(rest, list)?;
        return take(rest, ")").then_some(satisfied);
    }
    let mut licence = name(rest)?;
    if take(rest, "WITH") {
        licence = format!("{licence} WITH {}", name(rest)?);
    }
    Some(list.contains(&licence.as_str()))
}

fn name(rest: &mut &[String]) -> Option<String> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    let is_name = !["(", ")", "AND", "OR", "WITH"].contains(&first.as_str());
    is_name.then(|| first.clone())
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

/// What breaks the rules in the answer of `cargo metadata`; empty if nothing does.
fn breaches(metadata: &Value, banned: &[(&str, &str)], exceptions: &[(&str, &str)]) -> Vec<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"]);
    let members = list(&metadata["workspace_members"]);
    let mut found = Vec::new();
    for package in &packages {
        let name = text(package, "name");
        let called = format!("{name} {}", text(package, "version"));
        if members.contains(&package["id"]) {
            for dependency in list(&package["dependencies"]) {
                let (needed, version) = (text(&dependency, "name"), text(&dependency, "req"));
                if dependency["path"].is_null() && version.contains('*') {
                    found.push(format!("{called} takes any version of {needed} ({version})"));
                }
                if let Some((_, reason)) = banned.iter().find(|(banned, _)| *banned == needed) {
                    found.push(format!("{called} depends on {needed}, which {reason}"));
                }
            }
            continue;
        }
        if text(package, "source") != REGISTRY {
            let source = package["source"].as_str().unwrap_or("a folder outside the workspace");
            found.push(format!("{called} comes from {source}, not from crates.io"));
        }
        match package["license"].as_str().map(|given| (given, is_satisfied(given, &LICENCES))) {
            Some((_, Some(true))) => {}
            Some((given, Some(false))) => {
                found.push(format!("{called} is under {given}, which the list does not allow"));
            }
            Some((given, None)) => found.push(format!("{called}: {given} is no SPDX expression")),
            None => found.push(format!("{called} names no licence")),
        }
        let is_excepted = exceptions.iter().any(|(excepted, _)| *excepted == name);
        let ban = banned.iter().find(|(banned, _)| *banned == name);
        if let Some((_, reason)) = ban.filter(|_| !is_excepted) {
            found.push(format!("{called} {reason}"));
        }
    }
    let names: BTreeSet<&str> = packages.iter().map(|package| text(package, "name")).collect();
    for (excepted, _) in exceptions.iter().filter(|(excepted, _)| !names.contains(excepted)) {
        found.push(format!("{excepted} is gone: remove it from EXCEPTIONS"));
    }
    found
}

/// Crates of other platforms are neither built nor downloaded, and not looked at.
#[test]
fn dependencies_have_known_licences_sources_and_versions() {
    let version = cargo(&["-vV"]).expect("cargo's version");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let dependencies = ["--locked", "--all-features", "--filter-platform", host];
    let metadata = match metadata(&dependencies) {
        Ok(metadata) => metadata,
        Err(problem) => {
            let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
            assert!(!required, "{problem}");
            println!("skipped: some crates of the workspace are not downloaded yet");
            return;
        }
    };
    let found = breaches(&metadata, &BANNED, &EXCEPTIONS);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn expressions_are_read_as_spdx_has_them() {
    let list = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"];
    let is = |expression: &str| is_satisfied(expression, &list);
    for good in [
        "MIT",
        "GPL-3.0-only OR MIT",
        "GPL-3.0-only/MIT",
        "MIT AND Zlib",
        "Zlib OR MIT AND GPL-3.0-only",
        "(GPL-3.0-only OR MIT) AND Zlib",
        "Apache-2.0 WITH LLVM-exception OR GPL-3.0-only",
    ] {
        assert_eq!(is(good), Some(true), "{good}");
    }
    for bad in [
        "GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "MIT AND (GPL-3.0-only OR Apache-2.0)",
        "(Zlib OR MIT) AND GPL-3.0-only",
        "GPL-3.0-only AND MIT OR Apache-2.0",
        "Apache-2.0",
        "MIT WITH LLVM-exception",
    ] {
        assert_eq!(is(bad), Some(false), "{bad}");
    }
    for wrong in ["", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT Zlib", "MIT WITH", "()"] {
        assert_eq!(is(wrong), None, "{wrong}");
    }
}

#[test]
fn each_breach_of_the_rules_is_found() {
    let of = |own: &str, other: &str| -> Vec<String> {
        let metadata = format!(
            r#"{{ "workspace_members": ["own"], "packages": [
                {{ "id": "own", "name": "own", "version": "1.0.0", "source": null,
                   "license": "MIT", "dependencies": [{own}] }},
                {{ "id": "other", "name": "other", "version": "2.0.0", {other},
                   "dependencies": [{{ "name": "third", "req": "*", "path": null }}] }} ] }}"#
        );
        breaches(
            &serde_json::from_str(&metadata).unwrap(),
            &[("bad", "is bad"), ("worse", "is worse")],
            &[],
        )
    };
    let needs = |name: &str, version: &str, path: &str| {
        format!(r#"{{ "name": "{name}", "req": "{version}", "path": {path} }}"#)
    };
    let good = format!(r#""license": "MIT", "source": "{REGISTRY}""#);
    let nothing: [&str; 0] = [];
    assert_eq!(of(&needs("other", "^2", "null"), &good), nothing);
    assert_eq!(of(&needs("sibling", "*", r#""/sibling""#), &good), nothing);
    assert_eq!(
        of(&needs("other", "2.*", "null"), &good),
        ["own 1.0.0 takes any version of other (2.*)"]
    );
    assert_eq!(of(&needs("bad", "^1", "null"), &good), ["own 1.0.0 depends on bad, which is bad"]);
    let git = r#""license": "MIT", "source": "git+https://example.org/other""#;
    assert_eq!(
        of("", git),
        ["other 2.0.0 comes from git+https://example.org/other, not from crates.io"]
    );
    let folder = r#""license": "MIT", "source": null"#;
    assert_eq!(
        of("", folder),
        ["other 2.0.0 comes from a folder outside the workspace, not from crates.io"]
    );
    let unknown = good.replace("MIT", "GPL-3.0-only");
    assert_eq!(
        of("", &unknown),
        ["other 2.0.0 is under GPL-3.0-only, which the list does not allow"]
    );
    let unread = good.replace("MIT", "MIT and more");
    assert_eq!(of("", &unread), ["other 2.0.0: MIT and more is no SPDX expression"]);
    let without = good.replace(r#""MIT""#, "null");
    assert_eq!(of("", &without), ["other 2.0.0 names no licence"]);

    let metadata = format!(
        r#"{{ "workspace_members": [], "packages": [{{ "id": "bad", "name": "bad",
            "version": "1.0.0", "license": "MIT", "source": "{REGISTRY}" }}] }}"#
    );
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let banned = [("bad", "is bad")];
    assert_eq!(breaches(&metadata, &banned, &[]), ["bad 1.0.0 is bad"]);
    assert_eq!(breaches(&metadata, &banned, &[("bad", "for now")]), nothing);
    let more = [("bad", "for now"), ("worse", "for now")];
    assert_eq!(breaches(&metadata, &banned, &more), ["worse is gone: remove it from EXCEPTIONS"]);
}
