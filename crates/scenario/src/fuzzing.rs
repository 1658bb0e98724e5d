//! Entry point of the fuzz target: any bytes in, what the language promises checked.

use std::io;

use crate::Scenario;

/// Reads `data` as a scenario.
///
/// # Panics
/// When reading panics, or breaks a promise.
pub fn scenario(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let loader = |_: &str| Err(io::ErrorKind::NotFound.into());
    match Scenario::parse("fuzz.toml", &text, &loader) {
        Ok(scenario) => {
            assert!(scenario.warnings.iter().all(|d| !d.is_error()));
            // Every law of a scenario that passed can be run.
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
        Err(diagnostics) => {
            assert!(diagnostics.iter().any(crate::Diagnostic::is_error));
            for diagnostic in &diagnostics {
                assert!(!diagnostic.to_string().is_empty());
            }
        }
    }
}
