//! Files that a run leaves in its folder, and their state after a failure.

mod common;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{HELLO, err, folder, out, ratewire, write};

/// Imitates a full disk: no file may be longer than this, rounded to 512 bytes.
fn ratewire_with_files_of(bytes: u64, folder: &Path, args: &[&str]) -> Output {
    let limited = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", bytes / 512);
    let mut command = Command::new("sh");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_ratewire")]).args(args);
    command.current_dir(folder).output().expect("a shell")
}

/// Two of the laws send little.
fn with_slow() -> String {
    let slow = "\n[variant.slow]\nlaw = \"fixed\"\nrate = \"100 kbit/s\"\n";
    HELLO.replace("2 s\"\nlaw", "10 s\"\nlaw") + slow + &slow.replace("slow", "slower")
}

#[test]
fn the_others_are_printed_and_written() {
    let folder = folder("missing");
    write(&folder, "one.toml", &with_slow());
    let exists = |path: &str| folder.join(path).is_file();
    let laws = ["--law", "slow,cubic,slower", "--capture", "bottleneck"];
    let args = [&["run", "one.toml", "--out", "out"], &laws[..]].concat();
    // CUBIC's packets take a megabyte, those of the other laws little.
    let done = ratewire_with_files_of(500_000, &folder, &args);
    let (tables, complaints) = (out(&done), err(&done));
    assert_eq!(done.status.code(), Some(3), "{complaints}");
    assert!(
        tables.contains("slow") && tables.contains("slower") && !tables.contains("cubic"),
        "{tables}"
    );
    let missing = "ratewire: the run of cubic, seed 1 is missing:\nratewire: cannot write \
                   out/.unfinished/cubic-seed-1/packets.pcapng: ";
    assert!(complaints.contains(missing), "{complaints}");
    let page = std::fs::read_to_string(folder.join("out/report.html")).expect("the report");
    assert!(page.contains("slow") && exists("out/slow-seed-1/packets.pcapng"));
    assert!(exists("out/.unfinished/cubic-seed-1/packets.pcapng") && !exists("out/cubic-seed-1"));
}

/// Figures of runs are printed even if the page cannot be written.
#[test]
fn figures_are_printed_without_a_page() {
    let folder = folder("no-page");
    write(&folder, "one.toml", &with_slow());
    let alone = ["run", "one.toml", "--out", "out", "--law", "slow"];
    assert_eq!(ratewire(&folder, &alone).status.code(), Some(0));
    let summary = || std::fs::read(folder.join("out/summary.json")).expect("a summary");
    let earlier = summary();
    let limited = |more: &[&str]| {
        let alone = [&alone[..5], &["newreno"], more].concat();
        let done = ratewire_with_files_of(100_000, &folder, &alone);
        assert_eq!(done.status.code(), Some(3), "{}", err(&done));
        let says = "cannot write out/.unfinished/report.html: ";
        assert!(err(&done).contains(says), "{}", err(&done));
        out(&done)
    };
    let tables = limited(&[]);
    assert!(tables.contains("newreno") && !tables.contains("report.html"), "{tables}");
    let tables = limited(&["--json"]);
    assert!(tables.contains("\"law\": \"newreno\""), "{tables}");
    assert_eq!(summary(), earlier);
    assert!(folder.join("out/slow-seed-1/flows.parquet").is_file(), "the earlier run is whole");
}

/// The disk may be full at any block, even the last: the limit is below the size of the longest
/// file.
#[test]
fn a_file_that_cannot_be_written_fails_the_run() {
    let short = HELLO.replace("2 s\"\nlaw", "400 ms\"\nlaw");
    let short = short.split("[[expect]]").next().expect("a scenario");
    let many = short.replace("to   = \"d*\"", "to   = \"d*\"\ncount = 40");
    let cases = [
        ("flows.parquet", &many[..], &[][..]),
        ("links.parquet", short, &[]),
        ("packets.pcapng", short, &["--capture", "s1->r1,bottleneck"]),
    ];
    for (name, scenario, options) in cases {
        let folder = folder("full");
        write(&folder, "hello.toml", scenario);
        let args = [&["run", "hello.toml", "--out", "o"], options].concat();
        let done = ratewire(&folder, &args);
        assert_eq!(done.status.code(), Some(0), "{name}: {}", err(&done));
        let own = folder.join("o/xcp-seed-1");
        let files = || std::fs::read_dir(&own).expect("the run's files").flatten();
        let bytes = |file: &std::fs::DirEntry| file.metadata().expect("its length").len();
        let longest = files().max_by_key(bytes).expect("a file");
        assert_eq!(longest.file_name(), name);
        let page = std::fs::read(folder.join("o/report.html")).expect("a page");

        let done = ratewire_with_files_of(bytes(&longest) - 1, &folder, &args);
        assert_eq!(done.status.code(), Some(3), "{name}: {}", err(&done));
        let says = format!("cannot write o/.unfinished/xcp-seed-1/{name}: ");
        assert!(err(&done).contains(&says), "{}", err(&done));
        assert_eq!(std::fs::read(folder.join("o/report.html")).expect("the earlier page"), page);
        assert_eq!(files().count(), 5 + options.len() / 2, "and its samples");
    }
}

#[test]
fn a_run_that_is_stopped_leaves_an_earlier_one_as_it_was() {
    let folder = folder("earlier");
    write(&folder, "hello.toml", HELLO);
    let run = |law: &str| ratewire(&folder, &["run", "hello.toml", "--out", "o", "--law", law]);
    let names = || {
        let entries = std::fs::read_dir(folder.join("o")).expect("the folder").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(run("xcp").status.code(), Some(0));
    assert_eq!(names(), ["report.html", "summary.json", "xcp-seed-1"]);
    let page = || std::fs::read(folder.join("o/report.html")).expect("a page");
    let earlier = page();

    let mut long = Command::new(env!("CARGO_BIN_EXE_ratewire"));
    long.args(["run", "hello.toml", "--out", "o", "--law", "rcp", "--set", "duration=1 h"]);
    let mut long = long.arg("--quiet").current_dir(&folder).spawn().expect("the command starts");
    while !folder.join("o/.unfinished/rcp-seed-1/links.parquet").is_file() {
        assert!(long.try_wait().expect("the run").is_none(), "it ended before it wrote a file");
        std::thread::yield_now();
    }
    let second = run("rcp");
    assert_eq!(second.status.code(), Some(3));
    let says = "cannot write o: another run is writing there; wait for it, or choose another";
    assert!(err(&second).contains(says), "{}", err(&second));
    long.kill().and_then(|()| long.wait()).expect("the run is stopped");
    assert_eq!(names(), [".unfinished", "report.html", "summary.json", "xcp-seed-1"]);
    assert_eq!(page(), earlier);

    assert_eq!(run("rcp").status.code(), Some(0));
    assert_eq!(names(), ["rcp-seed-1", "report.html", "summary.json"]);
    assert_ne!(page(), earlier);
}

#[test]
fn ctrl_c_keeps_what_there_is_and_says_so() {
    let folder = folder("interrupted");
    write(&folder, "hello.toml", HELLO);
    let mut long = Command::new(env!("CARGO_BIN_EXE_ratewire"));
    long.args(["run", "hello.toml", "--out", "o", "--set", "duration=1 h"]);
    long.args(["--set", "record.interval=1ms"]).current_dir(&folder);
    let mut long = long.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // A group of rows is on disk: the run is on its way.
    let samples = folder.join("o/.unfinished/xcp-seed-1/links.parquet");
    while !std::fs::metadata(&samples).is_ok_and(|file| file.len() > 1000) {
        assert!(long.try_wait().expect("the run").is_none(), "it ended before it wrote a file");
        std::thread::yield_now();
    }
    let pid = nix::unistd::Pid::from_raw(long.id().try_into().expect("a number"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("it runs");
    let done = long.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(130), "{}", err(&done));
    let said = err(&done);
    assert!(said.contains("ratewire: interrupted; results so far are kept"), "{said}");
    assert!(said.contains("the results of xcp, seed 1 are partial: "), "{said}");
    assert!(said.contains(" of 3600 s"), "{said}");
    assert!(out(&done).contains("Report: o/report.html"), "{}", out(&done));
    let page = std::fs::read_to_string(folder.join("o/report.html")).expect("a page");
    assert!(page.contains("xcp: partial, ") && folder.join("o/xcp-seed-1/run.json").is_file());
}

/// Names of several laws give one plain folder name; the output folder may be called like that of
/// incomplete results.
#[test]
fn each_law_has_a_folder_of_its_own() {
    let folder = folder("alike");
    let variant = |name: &str| format!("\n[variant.\"{name}\"]\nlaw = \"newreno\"\n");
    write(&folder, "hello.toml", &(HELLO.to_string() + &variant("a b") + &variant("a_b")));
    let out = "o/.unfinished/p";
    let done = ratewire(&folder, &["run", "hello.toml", "--out", out, "--law", "a b,a_b,xcp"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    for made in ["a_b-seed-1", "a_b_2-seed-1", "xcp-seed-1"] {
        assert!(folder.join(out).join(made).join("flows.parquet").is_file(), "{made}");
    }
}

/// Remains of a run that was stopped while it replaced another, or whose files were removed.
#[test]
fn an_earlier_run_is_taken_away_whole() {
    let folder = folder("taken");
    write(&folder, "hello.toml", HELLO);
    let run = |law: &str| ratewire(&folder, &["run", "hello.toml", "--out", "o", "--law", law]);
    assert_eq!(run("xcp").status.code(), Some(0));
    std::fs::create_dir_all(folder.join("o/.unfinished/earlier/rcp-seed-1")).expect("a remnant");
    std::fs::remove_file(folder.join("o/report.html")).expect("a page");
    assert_eq!(run("rcp").status.code(), Some(0));
    assert!(!folder.join("o/.unfinished").exists() && !folder.join("o/xcp-seed-1").exists());
    assert!(folder.join("o/report.html").is_file() && folder.join("o/rcp-seed-1").is_dir());
}

#[test]
fn what_no_run_has_made_is_not_written_over() {
    let folder = folder("in-the-way");
    write(&folder, "hello.toml", HELLO);
    let run = || ratewire(&folder, &["run", "hello.toml", "--out", "o"]);
    for in_the_way in ["o/xcp-seed-1", "o/summary.json"] {
        let own = folder.join(in_the_way);
        std::fs::create_dir_all(&own).expect("a folder of somebody's own");
        let done = run();
        assert_eq!(done.status.code(), Some(3), "{in_the_way}");
        assert!(err(&done).contains(&format!("cannot write {in_the_way}: ")), "{}", err(&done));
        assert!(err(&done).contains("--out"), "{}", err(&done));
        std::fs::remove_dir(own).expect("the folder is as it was");
    }
    std::fs::create_dir_all(folder.join("o/notes-seed-1")).expect("a folder of somebody's own");
    write(&folder, "o/notes-seed-1/notes.txt", "mine");
    write(&folder, "o/notes.txt", "mine");
    assert_eq!(run().status.code(), Some(0));
    assert_eq!(run().status.code(), Some(0));
    for kept in ["o/notes-seed-1/notes.txt", "o/notes.txt", "o/xcp-seed-1/flows.parquet"] {
        assert!(folder.join(kept).is_file(), "{kept}");
    }
}

/// A page of the user's own, which no command may overwrite.
#[test]
fn a_file_that_ratewire_did_not_write_is_never_replaced() {
    let folder = folder("foreign");
    write(&folder, "hello.toml", HELLO);
    let cases: [(&str, &[&str]); 4] = [
        ("o/report.html", &["run", "hello.toml", "--out", "o"]),
        ("o/summary.json", &["run", "hello.toml", "--out", "o"]),
        ("o/comparison.json", &["compare", "hello.toml", "--seed", "1", "--out", "o"]),
        ("o/comparison.html", &["compare", "hello.toml", "--seed", "1", "--out", "o"]),
    ];
    for (page, args) in cases {
        let _ = std::fs::remove_dir_all(folder.join("o"));
        std::fs::create_dir(folder.join("o")).expect("a folder");
        write(&folder, page, "<!doctype html>\n<p>mine</p>");
        let done = ratewire(&folder, args);
        assert_eq!(done.status.code(), Some(3), "{page}: {}", err(&done));
        let says = format!("cannot write {page}: Ratewire did not write the file that is there");
        assert!(err(&done).contains(&says) && err(&done).contains("--out"), "{}", err(&done));
        let kept = std::fs::read_to_string(folder.join(page)).expect("the file");
        assert!(kept.contains("mine"), "{page}");
        // An empty file has nothing to lose.
        write(&folder, page, "");
        assert_eq!(ratewire(&folder, args).status.code(), Some(0), "{page}");
        assert_eq!(ratewire(&folder, args).status.code(), Some(0), "its own page is replaced");
    }
}

#[test]
fn what_others_put_into_a_run_stays_and_what_is_ours_goes() {
    let folder = folder("others");
    write(&folder, "hello.toml", HELLO);
    let run = |law: &str| {
        let args = ["run", "hello.toml", "--out", "o", "--law", law, "--capture", "bottleneck"];
        let done = ratewire(&folder, &args);
        assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    };
    let names = |path: &str| {
        let entries = std::fs::read_dir(folder.join(path)).expect("the folder").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    run("xcp");
    write(&folder, "o/xcp-seed-1/plot.png", "mine");
    run("xcp");
    let own = [
        "completions.parquet",
        "flows.parquet",
        "links.parquet",
        "packets.pcapng",
        "plot.png",
        "run.json",
        "scenario.toml",
    ];
    assert_eq!(names("o/xcp-seed-1"), own);
    run("rcp");
    assert_eq!(names("o/xcp-seed-1"), ["plot.png"]);
    assert_eq!(names("o"), ["rcp-seed-1", "report.html", "summary.json", "xcp-seed-1"]);
    std::fs::remove_dir_all(folder.join("o/xcp-seed-1")).expect("a folder");
    run("xcp");
    assert_eq!(names("o"), ["report.html", "summary.json", "xcp-seed-1"], "all of rcp's is ours");
}

/// Earlier files are never half overwritten.
#[test]
fn a_comparison_that_cannot_be_written_leaves_an_earlier_one() {
    let folder = folder("compared");
    write(&folder, "hello.toml", HELLO);
    let args = ["compare", "hello.toml", "--seed", "1", "--out", "o", "--law"];
    let compare = |laws: &'static str| [&args[..], &[laws]].concat();
    assert_eq!(ratewire(&folder, &compare("xcp")).status.code(), Some(0));
    let kept = || {
        let entries = std::fs::read_dir(folder.join("o")).expect("the folder").flatten();
        let paths = entries.map(|entry| entry.path()).filter(|path| path.is_file());
        let read = |path: std::path::PathBuf| std::fs::read(&path).map(|bytes| (path, bytes));
        let mut files: Vec<_> = paths.map(|path| read(path).expect("a file")).collect();
        files.sort();
        files
    };
    let earlier = kept();
    assert_eq!(earlier.len(), 2);
    // The first of the two fits.
    let done = ratewire_with_files_of(20_000, &folder, &compare("xcp,cubic"));
    assert_eq!(done.status.code(), Some(3), "{}", err(&done));
    assert!(err(&done).contains("cannot write "), "{}", err(&done));
    assert!(kept() == earlier, "the earlier comparison is whole");
    assert_eq!(ratewire(&folder, &compare("xcp,cubic")).status.code(), Some(0));
    assert!(kept() != earlier && kept().len() == 2);
}

#[test]
fn where_a_file_is_no_folder_is_made() {
    let folder = folder("file");
    write(&folder, "hello.toml", HELLO);
    write(&folder, "o", "mine");
    for (command, out) in [("run", "o"), ("run", "o/deeper"), ("compare", "o")] {
        let done = ratewire(&folder, &[command, "hello.toml", "--out", out]);
        assert_eq!(done.status.code(), Some(3));
        let says = "cannot write o: it is a file, not a folder; choose another path (--out)";
        assert!(err(&done).contains(says), "{}", err(&done));
    }
    assert_eq!(std::fs::read(folder.join("o")).expect("the file"), b"mine");
}
