//! `ratewire doctor`: what this machine can do, and what to do where it cannot.

use std::fmt::Write;

use ratewire_emulate::doctor::{self, Check};

use super::print;
use crate::Exit;

/// Looks at what the emulated world and laws in the kernel need. Changes nothing.
pub(crate) fn examine() -> Exit {
    let emulation = doctor::examine();
    let laws = of_laws();
    let mut text = section("for `run --world emulate` and `shell`", &emulation);
    text += "\n";
    text += &match &laws {
        Some(checks) => section("for `live`, and emulated senders under laws of bpf/", checks),
        None => "`live`, and emulated senders under laws of bpf/, are not in this build\n     \
                 help: `make live` builds it with them\n"
            .to_string(),
    };
    let printed = print(&text);
    let mut all = emulation.iter().chain(laws.iter().flatten());
    if all.all(|check| check.found.is_ok()) { printed } else { Exit::Unable }
}

#[cfg(feature = "live")]
fn of_laws() -> Option<Vec<Check>> {
    use ratewire_live::doctor::Check as Found;
    let checks = ratewire_live::doctor::examine().into_iter();
    Some(checks.map(|Found { what, found, remedy }| Check { what, found, remedy }).collect())
}

#[cfg(not(feature = "live"))]
fn of_laws() -> Option<Vec<Check>> {
    None
}

fn section(title: &str, checks: &[Check]) -> String {
    let mut text = format!("{title}\n");
    for Check { what, found, remedy } in checks {
        let (sign, said) = match found {
            Ok(found) => ("ok  ", found),
            Err(wrong) => ("NO  ", wrong),
        };
        let _ = writeln!(text, "{sign} {what:<24} {said}");
        if found.is_err() {
            let _ = writeln!(text, "     {:<24} help: {remedy}", "");
        }
    }
    text
}
