//! The example in C: that it builds as the reference says, and what it does.

use std::path::{Path, PathBuf};
use std::process::Command;

use ratewire_anypoint::routing::{Frame, Member, RoundRobin, Routing};
use ratewire_units::{Bytes, Duration};
use ratewire_wasm::{Faults, Module, WasmRouting};

const SOURCE: &str = include_str!("../../examples/urgent.c");

/// How the reference builds the example, in the folder that holds it.
const BUILD: &str =
    "clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry,--strip-all -o urgent.wasm urgent.c";

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).expect("a page")
}

/// The example, built; `None` without the tools.
fn built() -> Option<Vec<u8>> {
    for tool in ["clang", "wasm-ld"] {
        if Command::new(tool).arg("--version").output().is_err() {
            let required = std::env::var("RATEWIRE_REQUIRE_TOOLS").is_ok_and(|v| v == "1");
            assert!(!required, "RATEWIRE_REQUIRE_TOOLS=1, but {tool} is not installed");
            eprintln!("skipped: {tool} is not installed (apt-get install clang lld)");
            return None;
        }
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("urgent.c"), SOURCE).expect("a source");
    let mut words = BUILD.split(' ');
    let mut command = Command::new(words.next().expect("a program"));
    let output = command.args(words).args(["-Wall", "-Werror"]).current_dir(&folder).output();
    let output = output.expect("clang");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(std::fs::read(folder.join("urgent.wasm")).expect("a module"))
}

#[test]
fn urgent_frames_go_to_the_fastest_member_and_others_to_the_least_loaded() {
    let Some(binary) = built() else { return };
    let module = Module::load(&binary).expect("a module");
    assert_eq!(module.wants(), 1);
    let mut routing = WasmRouting::new(module, Box::new(RoundRobin::default()));
    let member = |is_up, bytes, micros| Member {
        is_up,
        outstanding: Bytes::new(bytes),
        latency: Duration::from_micros(micros),
    };
    let members = [member(true, 10, 900), member(true, 5_000_000_000, 30), member(false, 0, 1)];
    let mut routed = |content: &[u8]| routing.route(&Frame { number: 0, content }, &members);
    assert_eq!(routed(b"urgent"), Some(1));
    assert_eq!(routed(b"later"), Some(0));
    assert_eq!(routed(b""), Some(0));
    // A module has room for 256 members. The default module routes the frames of a larger ensemble.
    let mut routed = |count: usize| {
        let members = vec![member(true, 0, 0); count];
        routing.route(&Frame { number: 0, content: b"" }, &members);
        routing.faults()
    };
    assert_eq!(routed(256), Faults::default());
    assert_eq!(routed(257), Faults { invalid: 1, ..Faults::default() });
}

#[test]
fn the_pages_show_the_example_as_it_is() {
    assert!(page("reference/routing-abi.md").contains(&format!("```c\n{SOURCE}```")));
    for name in ["reference/routing-abi.md", "how-to/write-a-routing-module.md"] {
        assert!(page(name).contains(&format!("{BUILD}\n")), "{name}");
    }
}
