//! Entry point of the fuzz target: reads any bytes and checks the language's guarantees.

use std::io;

use crate::Scenario;

/// Files that a scenario may name, by suffix, so that reading goes on after one is named.
const FILES: &[(&str, &str)] = &[
    ("flows.txt", "0.5 a c 10000\n0.7 c a 20000\n"),
    (".txt", "1000 0.5\n10000 1\n"),
    (".down", "1\n2\n3\n5\n8\n"),
    (".up", "0 8\n1 2\n2.5 0\n"),
    (".csv", "t_s,a,b\n1,0,0\n2,1000,1000\n"),
    (
        ".json",
        "{\"nodes\": [{\"id\": 0, \"name\": \"a\"}, {\"id\": 1, \"name\": \"c\"}], \
         \"edges\": [{\"source\": 0, \"target\": 1, \"dist\": 100}], \
         \"graph\": {\"demands\": {\"0\": {\"1\": 10}}}}",
    ),
];

/// Reads `data` as a scenario.
///
/// # Panics
/// Panics if reading panics or violates a guarantee.
pub fn scenario(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let loader = |name: &str| match FILES.iter().find(|(end, _)| name.ends_with(end)) {
        Some((_, text)) => Ok(text.to_string()),
        None => Err(io::ErrorKind::NotFound.into()),
    };
    match Scenario::parse("fuzz.toml", &text, &loader) {
        Ok(scenario) => {
            assert!(scenario.warnings.iter().all(|d| !d.is_error()));
            // A scenario that was accepted can run under each of its laws.
            for law in scenario.laws() {
                if let Ok(plan) = scenario.plan(Some(&law), None) {
                    let _ = scenario.evaluator(&plan);
                }
            }
            let set = [("seed".to_string(), "7".to_string())];
            if let Ok(other) = scenario.with_overrides(&set) {
                assert_eq!(other.seed, 7);
            }
        }
        Err(wrong) => {
            assert!(wrong.diagnostics.iter().any(crate::Diagnostic::is_error));
            for diagnostic in &wrong.diagnostics {
                assert!(!diagnostic.to_string().is_empty());
            }
        }
    }
}
