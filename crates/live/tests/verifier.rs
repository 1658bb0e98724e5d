//! Work of the kernel's verifier for each program. Needs root.

use std::collections::BTreeSet;

use ratewire_live::KernelLaw;
use ratewire_live::probe::verified;
use ratewire_live::router::Police;

/// A quarter of the million at which a kernel gives up: another kernel's verifier takes other
/// paths. Set after a run on Linux 6.18, in which the largest, JetMax's router, took 133 000 (RCP's
/// 141 000 since it reports its flows and reads ACP; JetMax's with a policer 175 000).
const MOST: u32 = 250_000;

/// At hosts: the handler of the TCP option, and the congestion control's functions.
const OF_HOSTS: [&str; 6] =
    ["ratewire_option", "rw_control", "rw_init", "rw_release", "rw_ssthresh", "rw_undo"];
/// At routers: a port's program, and `ratewire_nothing`, the reference for its cost; a kernel keeps
/// 15 letters of a name.
const OF_ROUTERS: [&str; 2] = ["ratewire_nothin", "ratewire_router"];

#[test]
fn every_program_is_taken_and_far_below_what_is_allowed() {
    let all = KernelLaw::ALL.into_iter();
    for (law, police) in all.flat_map(|law| [(law, None), (law, Some(Police::default()))]) {
        let programs = match verified(law, police) {
            Ok(programs) => programs,
            Err(why) => {
                assert!(std::env::var_os("RATEWIRE_REQUIRE_ROOT").is_none(), "cannot run: {why}");
                return eprintln!("skipped: {why}");
            }
        };
        let of_routers = if KernelLaw::OF_ROUTERS.contains(&law) { &OF_ROUTERS[..] } else { &[] };
        let expected: BTreeSet<&str> = of_routers.iter().chain(&OF_HOSTS).copied().collect();
        let names: BTreeSet<&str> = programs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, expected, "{law:?}");
        for (name, instructions) in programs {
            let what = format!("{law:?}, {name}, {police:?}: {instructions}");
            println!("{what}");
            assert!((1..MOST).contains(&instructions), "{what}");
        }
    }
}
