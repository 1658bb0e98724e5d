//! Laws of one's own as a user makes them: written, built, run, checked.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{HELLO, err, folder, out, ratewire, write};

fn made(folder: &Path, args: &[&str]) -> Output {
    let done = ratewire(folder, args);
    assert_eq!(done.status.code(), Some(0), "{args:?}: {}{}", out(&done), err(&done));
    done
}

/// A new law in C, built by its own Makefile.
fn new_law(folder: &Path, name: &str) -> std::path::PathBuf {
    let printed = out(&made(folder, &["new-law", "--c", name]));
    assert!(printed.contains(&format!("Next: cd {name} && make && ratewire run")), "{printed}");
    make(&folder.join(name));
    folder.join(name)
}

fn make(folder: &Path) {
    let done = Command::new("make").current_dir(folder).output().expect("make");
    assert!(done.status.success(), "{}", err(&done));
    assert!(done.stderr.is_empty(), "warnings: {}", err(&done));
}

#[test]
fn a_new_law_in_c_is_built_run_compared_and_explained() {
    let folder = folder("own-law");
    let own = new_law(&folder, "mine");
    // A scenario that names a shared object is code, and is refused as such.
    let refused = ratewire(&own, &["run", "scenario.toml"]);
    assert_eq!(refused.status.code(), Some(2), "{}", err(&refused));
    assert!(err(&refused).contains("--trust-laws lets the scenario load it"), "{}", err(&refused));
    let printed = out(&made(&own, &["run", "scenario.toml", "--trust-laws"]));
    assert!(printed.contains("mine") && printed.contains("newreno"), "{printed}");
    write(&own, "hello.toml", HELLO);
    let printed = out(&made(&own, &["run", "hello.toml", "--law", "./mine.so,cubic"]));
    assert!(printed.contains("mine ") && printed.contains("cubic "), "{printed}");
    let run =
        std::fs::read_to_string(own.join("out/hello/mine-seed-1/run.json")).expect("run.json");
    assert!(run.contains("\"name\": \"mine\"") && run.contains("\"sha256\": \""), "{run}");
    // What the run says of itself runs again.
    let printed =
        out(&made(&own, &["compare", "hello.toml", "--law", "./mine.so,cubic", "--seed", "1,2"]));
    assert!(printed.contains("mine"), "{printed}");
    let printed =
        out(&made(&own, &["run", "hello.toml", "--law", "./mine.so", "--why", "s1-d1@1s"]));
    assert!(printed.contains("window += SMSS each round trip"), "{printed}");
    let printed = out(&made(&own, &["explain", "./mine.so"]));
    let printed: Vec<&str> = printed.split_whitespace().collect();
    let printed = printed.join(" ");
    assert!(
        printed.contains("decrease = 0.5") && printed.contains("a number from 0.1 to 0.9"),
        "{printed}"
    );
    let set = ["run", "hello.toml", "--law", "./mine.so", "--set", "options.mine.decrease=2"];
    let refused = err(&ratewire(&own, &set));
    assert!(refused.contains("allowed is a number from 0.1 to 0.9"), "{refused}");
    let bare = err(&ratewire(&own, &["explain", "mine"]));
    assert!(bare.contains("help: the law in the file here is ./mine.so"), "{bare}");
    // From elsewhere, the scenario's own name of the file is that of the file on the command line.
    let named = ["run", "mine/scenario.toml", "--law", "mine/mine.so", "--no-files"];
    let printed = out(&made(&folder, &named));
    assert!(printed.contains("mine "), "{printed}");
    // The folder is there: nothing of it is replaced.
    let again = ratewire(&folder, &["new-law", "--c", "mine"]);
    assert_eq!(again.status.code(), Some(3), "{}", err(&again));
    for name in ["xcp", "Mine", "my law", "9to5"] {
        let refused = ratewire(&folder, &["new-law", "--c", name]);
        assert_eq!(refused.status.code(), Some(2), "{name}: {}", err(&refused));
    }
}

#[test]
fn checks_report_what_a_law_does_wrong_and_outlive_its_crash() {
    let folder = folder("checked-law");
    let own = new_law(&folder, "mine");
    let printed = out(&made(&own, &["check-law", "./mine.so"]));
    assert_eq!(printed.matches("pass  ").count(), 5, "{printed}");
    assert_eq!(printed.matches("not promised").count(), 3, "{printed}");
    let source = std::fs::read_to_string(own.join("mine.c")).expect("the law");
    let with = |from: &str, to: &str| {
        assert!(source.contains(from), "{from}");
        write(&own, "mine.c", &source.replace(from, to));
        make(&own);
        let done = ratewire(&own, &["check-law", "./mine.so"]);
        assert_eq!(done.status.code(), Some(1), "{}{}", out(&done), err(&done));
        out(&done)
    };
    let crash = "s->window *= s->decrease;\n\t*(volatile int *)0 = 1;";
    let printed = with("s->window *= s->decrease;", crash);
    assert!(printed.contains("FAIL  wild") && printed.contains("SIGSEGV"), "{printed}");
    assert!(
        printed.contains("again: ratewire check-law ./mine.so --only wild --seed 1"),
        "{printed}"
    );
    assert!(printed.contains("pass  headers"), "{printed}");
    let printed = with("return s->window;", "return s->window > 1e5 ? -1 : s->window;");
    assert!(printed.contains("`source.window` gave -1 bytes: allowed is 0 or more"), "{printed}");
    // A window that fills the memory, from the start and later.
    let window = "`source.window` gave 1e30 bytes, and there is no pace: at most 1073741824 bytes";
    let printed = with("return s->window;", "return s->window > 0 ? 1e30 : 0;");
    assert!(printed.contains("FAIL  wild") && printed.contains(window), "{printed}");
    let printed = with("return s->window;", "return s->window > 1e5 ? 1e30 : s->window;");
    assert!(printed.contains("FAIL  run") && printed.contains(window), "{printed}");
    let printed = with("RATEWIRE_GOES_BY_LOSSES", "RATEWIRE_GOES_BY_LOSSES | RATEWIRE_ANY_SPEED");
    assert!(
        printed.contains("FAIL  any-speed") && printed.contains("% of the link apart"),
        "{printed}"
    );
    // Laws of Ratewire can be checked alike, and names that it does not know are refused.
    made(&own, &["check-law", "xcp", "--only", "wild"]);
    let unknown = ratewire(&own, &["check-law", "xpc"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", err(&unknown));
    assert!(err(&unknown).contains("no law is called \"xpc\""), "{}", err(&unknown));
    let unknown = ratewire(&own, &["check-law", "./none.so"]);
    assert_eq!(unknown.status.code(), Some(3), "{}", err(&unknown));
}

#[test]
fn a_check_counts_only_if_its_process_prints_the_result_in_time() {
    let folder = folder("ended-checks");
    let own = new_law(&folder, "mine");
    let source = std::fs::read_to_string(own.join("mine.c")).expect("the law");
    let with = |code: &str, args: &[&str]| {
        let text = source.replace("return s->window;", &format!("{code}\n\treturn s->window;"));
        assert_ne!(text, source);
        write(&own, "mine.c", &format!("#include <stdio.h>\n#include <stdlib.h>\n{text}"));
        make(&own);
        let done = ratewire(&own, &[&["check-law", "./mine.so"], args].concat());
        assert_eq!(done.status.code(), Some(1), "{}{}", out(&done), err(&done));
        out(&done)
    };
    for code in ["exit(0);", "exit(1);", "printf(\"result: 5 sequences\\n\"); exit(0);"] {
        let printed = with(code, &[]);
        assert_eq!(printed.matches("FAIL  ").count(), 5, "{code}: {printed}");
        assert!(printed.contains("FAIL  wild"), "{code}: {printed}");
        assert!(printed.contains("a law must not end it"), "{code}: {printed}");
    }
    let printed = with("for (;;) ;", &["--deadline", "2 s"]);
    assert!(printed.contains("FAIL  wild"), "{printed}");
    let late = "not over after 2 s: a function of the law may never return; --deadline gives";
    assert_eq!(printed.matches(late).count(), 5, "{printed}");
    // What a law prints is no result, and does not hide it.
    let chatty = "fputs(\"window\", stdout);";
    let text = source.replace("return s->window;", &format!("{chatty}\n\treturn s->window;"));
    write(&own, "mine.c", &format!("#include <stdio.h>\n#include <stdlib.h>\n{text}"));
    make(&own);
    let printed = out(&made(&own, &["check-law", "./mine.so"]));
    assert_eq!(printed.matches("pass  ").count(), 5, "{printed}");
    // A law that ends whoever loads it ends no more than the processes of its checks.
    let loaded = "__attribute__((constructor)) static void ends(void) { exit(0); }\n";
    write(&own, "mine.c", &format!("#include <stdlib.h>\n{source}\n{loaded}"));
    make(&own);
    let done = ratewire(&own, &["check-law", "./mine.so"]);
    assert_eq!(done.status.code(), Some(1), "{}{}", out(&done), err(&done));
    assert_eq!(out(&done).matches("FAIL  ").count(), 8, "{}", out(&done));
}

/// XCP in C as it is, and with a fault in its router or its receiver.
#[test]
fn feedback_that_a_law_in_c_loses_or_makes_is_found() {
    let folder = folder("law-with-books");
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin");
    let parts = ["xcp.c", "header.h", "source.h", "port.h", "sink.h", "books.h"];
    let check = |part: &str, from: &str, to: &str| {
        for name in parts {
            let text = std::fs::read_to_string(plugin.join("laws/xcp").join(name)).expect(name);
            let text = if name == part {
                assert!(text.contains(from), "{from}");
                text.replace(from, to)
            } else {
                text
            };
            write(&folder, name, &text);
        }
        let include = format!("-I{}", plugin.join("include").display());
        let options = ["-std=c99", "-O2", "-shared", "-fPIC", &include, "-o", "xcp.so", "xcp.c"];
        let built = Command::new("cc").args(options).arg("-lm").current_dir(&folder).status();
        assert!(built.expect("a C compiler").success());
        ratewire(&folder, &["check-law", "./xcp.so", "--only", "conserved"])
    };
    let whole = check("", "", "");
    assert!(whole.status.success(), "{}", err(&whole));
    for (part, from, to, says) in [
        ("port.h", "return granted;", "return granted * 1.001;", "than"),
        ("port.h", "p->residue_neg - neg, 0", "p->residue_neg, 0", "than the port has spent"),
        ("port.h", "shuffled + fmax(p->feedback, 0)", "shuffled", "left to take, is not F"),
        ("sink.h", "s->sum = 0;", "", "a receiver returns another sum than it got"),
    ] {
        let done = check(part, from, to);
        assert!(!done.status.success() && err(&done).contains(says), "{to}: {}", err(&done));
    }
}

/// Its Rust, which is checked as a part of this test.
#[path = "../src/commands/new_law/rust/law.rs.txt"]
mod template;

/// XCP in C at a router beside ours, and a law that routers have nothing to do with.
#[test]
fn the_work_of_a_port_in_c_is_measured() {
    let folder = folder("own-law-cost");
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin");
    for (name, source) in [("xcp.so", "laws/xcp/xcp.c"), ("newreno.so", "laws/newreno.c")] {
        let include = format!("-I{}", plugin.join("include").display());
        let mut cc = Command::new("cc");
        let cc = cc.current_dir(&folder).args(["-O2", "-shared", "-fPIC", &include, "-o", name]);
        assert!(cc.arg(plugin.join(source)).status().expect("a C compiler").success());
    }
    let args = ["laws", "--cost", "--rounds", "2", "--json", "./xcp.so"];
    // Without valgrind, which would count for a minute.
    let mut command = Command::new(env!("CARGO_BIN_EXE_ratewire"));
    let done = command.current_dir(&folder).args(args).env("PATH", "").output().expect("it runs");
    let costs: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let last = costs["laws"].as_array().and_then(|laws| laws.last()).expect("laws");
    assert_eq!(last["law"], "./xcp.so");
    // The difference of two times is 0 where other work delayed the loop without the port.
    assert!(last["ns"]["median"].is_f64() && last["ns"]["least"].is_f64(), "{last}");
    let refused = ratewire(&folder, &["laws", "--cost", "./newreno.so"]);
    assert_eq!(refused.status.code(), Some(2), "{}", err(&refused));
    assert!(err(&refused).contains("./newreno.so: the law has no port"), "{}", err(&refused));
}

/// The program that `new-law --rust` writes is built and run where it is. Cargo reads its manifest;
/// the library is the one of these tests, which Cargo would build again.
#[test]
fn a_new_law_in_rust_runs_outside_the_tree() {
    let folder = folder("own-law-rust-runs");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    made(&folder, &["new-law", "--rust", "mine", "--ratewire", root]);
    let own = folder.join("mine");
    let cargo = Path::new(env!("CARGO"));
    let tree = Command::new(cargo).args(["tree", "--offline"]).current_dir(&own).output();
    let tree = tree.expect("cargo");
    assert!(out(&tree).contains("ratewire v"), "{}", err(&tree));
    let built = Path::new(env!("CARGO_BIN_EXE_ratewire")).with_file_name("deps");
    let entries = std::fs::read_dir(&built).expect("what was built");
    let libraries = entries.filter_map(|entry| {
        let entry = entry.expect("a file");
        let name = entry.file_name().into_string().ok()?;
        let hash = name.strip_prefix("libratewire-")?.strip_suffix(".rlib")?;
        // Other builds of the library may lack features: rustc's list of sources says.
        let sources = std::fs::read_to_string(built.join(format!("ratewire-{hash}.d"))).ok()?;
        let is_whole = sources.contains("observe/files.rs");
        is_whole.then(|| (entry.metadata().and_then(|m| m.modified()).expect("a time"), name))
    });
    let (_, newest) = libraries.max().expect("the library");
    let mut rustc = Command::new(cargo.with_file_name("rustc"));
    rustc.args(["--edition", "2024", "src/main.rs", "-o", "program", "-L"]);
    rustc.arg(format!("dependency={}", built.display()));
    rustc.arg("--extern").arg(format!("ratewire={}", built.join(newest).display()));
    let compiled = rustc.current_dir(&own).output().expect("rustc");
    assert!(compiled.status.success() && err(&compiled).is_empty(), "{}", err(&compiled));
    let printed =
        out(&Command::new(own.join("program")).current_dir(&own).output().expect("it runs"));
    assert!(printed.contains("mine ") && printed.contains("newreno "), "{printed}");
    assert!(own.join("out/report.html").exists());
}

#[test]
fn a_new_law_in_rust_is_written_whole() {
    let folder = folder("own-law-rust");
    let elsewhere = ["new-law", "--rust", "mine", "--ratewire", "/elsewhere/ratewire"];
    let refused = ratewire(&folder, &elsewhere);
    assert_eq!(refused.status.code(), Some(3), "{}", err(&refused));
    let says = "there is no /elsewhere/ratewire/crates/ratewire/Cargo.toml\n  help: --ratewire is";
    assert!(err(&refused).contains(says) && !folder.join("mine").exists(), "{}", err(&refused));
    for name in ["self", "std", "core", "alloc", "test", "match"] {
        let refused = ratewire(&folder, &["new-law", "--rust", name, "--ratewire", "/elsewhere"]);
        assert!(err(&refused).contains("a word of Rust"), "{name}: {}", err(&refused));
    }
    let bare = ratewire(&folder, &["new-law", "mine"]);
    assert_eq!(bare.status.code(), Some(2), "{}", err(&bare));
    assert!(err(&bare).contains("--c") && err(&bare).contains("--rust"), "{}", err(&bare));
    // A relative path is the manifest's.
    std::fs::create_dir_all(folder.join("clone/crates/ratewire")).expect("a folder");
    write(&folder, "clone/crates/ratewire/Cargo.toml", "");
    made(&folder, &["new-law", "--rust", "near", "--ratewire", "../clone"]);
    let clone = folder.join("clone");
    let clone = clone.to_str().expect("text");
    made(&folder, &["new-law", "--rust", "mine", "--ratewire", clone]);
    let text = |name: &str| std::fs::read_to_string(folder.join("mine").join(name)).expect(name);
    assert!(text("Cargo.toml").contains(&format!("path = \"{clone}/crates/ratewire\"")));
    assert!(
        text("src/law.rs").contains("name: \"mine\"") && text("src/main.rs").contains("mod law;")
    );
    for name in ["Cargo.toml", "README.md", "scenario.toml", "src/law.rs", "src/main.rs"] {
        assert!(!text(name).contains('@'), "{name}");
    }
    let mut laws = ratewire::laws::LawSet::default();
    laws.register::<template::Aimd>().expect("a law");
    let name = laws.list().last().expect("a law").name;
    let check =
        ratewire::LawCheck::all().iter().find(|check| check.name == "run").expect("a check");
    check.check(&laws, name, 1).unwrap_or_else(|wrong| panic!("{wrong}"));
}
