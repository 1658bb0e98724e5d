//! How much work the kernel's verifier has with the programs. Needs root.

use ratewire_live::Law;
use ratewire_live::probe::verified;

/// A quarter of the million at which a kernel gives up: another kernel's verifier goes through other paths. Set after a
/// run on Linux 6.18, in which the largest, JetMax's router, took 133 000 (RCP's 136 000 since it tells its flows).
const MOST: u32 = 250_000;

#[test]
fn every_program_is_taken_and_far_below_what_is_allowed() {
    for law in Law::ALL {
        let programs = match verified(law) {
            Ok(programs) => programs,
            Err(why) => {
                assert!(std::env::var_os("RATEWIRE_REQUIRE_ROOT").is_none(), "cannot run: {why}");
                return eprintln!("skipped: {why}");
            }
        };
        let least = if Law::OF_ROUTERS.contains(&law) { 8 } else { 6 };
        assert!(programs.len() >= least, "{law:?}: {programs:?}");
        for (name, instructions) in programs {
            println!("{law:?}, {name}: {instructions}");
            assert!((1..MOST).contains(&instructions), "{law:?}, {name}: {instructions}");
        }
    }
}
