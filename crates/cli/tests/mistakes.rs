//! Answers of the command to mistakes.

mod common;

use common::{HELLO, err, folder, out, ratewire, write};

#[test]
fn a_wrong_scenario_is_answered_with_every_mistake_and_its_place() {
    let folder = folder("wrong");
    let text = HELLO.replace("pairs ", "pears ").replace("law      = \"xcp\"", "law = \"xpc\"");
    write(&folder, "wrong.toml", &text);
    let done = ratewire(&folder, &["check", "--syntax", "wrong.toml"]);
    assert_eq!(done.status.code(), Some(2));
    let text = err(&done);
    for part in ["wrong.toml:3:", "\"xpc\"", "xcp", "wrong.toml:7:", "pears", "pairs"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let done = ratewire(&folder, &["run", "wrong.toml"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(!folder.join("out").exists(), "nothing is written for a scenario that is wrong");
}

#[test]
fn mistakes_on_the_command_line_are_explained() {
    let folder = folder("mistakes");
    write(&folder, "hello.toml", HELLO);
    let cases: [(&[&str], i32, &str); 20] = [
        (&["run", "nowhere.toml"], 3, "read the scenario: no such file\n --> nowhere.toml\n"),
        (&["run", "helo.toml"], 3, "did you mean `hello.toml`?"),
        (&["check", "helo.toml"], 3, "did you mean `hello.toml`?"),
        (&["run", "hello.toml", "--set", "bottlneck.rate=1M"], 2, "did you mean `bottleneck`?"),
        (&["run", "hello.toml", "--set", "bottleneck.rat=1M"], 2, "did you mean `rate`?"),
        (&["run", "hello.toml", "--law", "cubik"], 2, "cubic"),
        (&["run", "hello.toml", "--set", "bottleneck.rate"], 2, "KEY=VALUE"),
        (&["run", "hello.toml", "--set", "bottleneck.rate=fast"], 2, "fast"),
        (&["run", "hello.toml", "--capture", "botleneck"], 2, "did you mean \"bottleneck\"?"),
        (&["run", "hello.toml", "--out", "hello.toml/x"], 3, "it is a file, not a folder"),
        (&["compare", "hello.toml", "--law", "cubik"], 2, "cubic"),
        (&["run", "hello.toml", "--seed", "1,x"], 2, "allowed: whole numbers from 0 to"),
        (&["compare", "hello.toml", "--seed", "1..x"], 2, "allowed: whole numbers from 0 to"),
        (&["compare", "hello.toml", "--out", "hello.toml/x"], 3, "it is a file, not a folder"),
        (&["explain", "xpc"], 2, "did you mean \"xcp\"? known: xcp"),
        (&["check", "nowhere"], 3, "nowhere"),
        (&["rnu"], 2, "a similar subcommand exists: 'run'"),
        (&["run", "."], 3, "a folder"),
        (&["compare", "."], 3, "a folder"),
        (&["run", "hello.toml", "--set", "flow.9.start=1s"], 2, "there is one, 1"),
    ];
    for (args, code, part) in cases {
        let done = ratewire(&folder, args);
        assert_eq!(done.status.code(), Some(code), "{args:?}: {}", err(&done));
        assert!(err(&done).contains(part), "{part} in the answer to {args:?}: {}", err(&done));
    }
}

/// Options that would have no effect are refused. The cgroup is such that root would attach
/// nothing.
#[cfg(feature = "live")]
#[test]
fn an_option_that_is_another_laws_is_refused() {
    let folder = folder("mode");
    for mode in ["safe", "force"] {
        let args = ["live", "host", "--law", "xcp", "--mode", mode, "--cgroup", "nowhere"];
        let done = ratewire(&folder, &args);
        assert_eq!(done.status.code(), Some(2), "{}", err(&done));
        let says = "--mode is only for noq, not for xcp\n  help: leave --mode out";
        assert!(err(&done).contains(says), "{}", err(&done));
    }
    for (law, option, says) in [
        ("rcp", "aging=0", "--option: senders of rcp have no options; those of xcp have"),
        ("xcp", "ageing=0", "option \"ageing\": no such option; known: desired, throughput, aging"),
        ("xcp", "after_loss=stay-reno", "allowed"),
        ("xcp", "desired=1 Mbit/s", "`desired` is the flag --desired"),
        ("xcp", "aging", "not NAME=VALUE: there is no `=`"),
    ] {
        let args = ["live", "host", "--law", law, "--option", option, "--cgroup", "nowhere"];
        let done = ratewire(&folder, &args);
        assert_eq!(done.status.code(), Some(2), "{}", err(&done));
        assert!(err(&done).contains(says), "{says}: {}", err(&done));
    }
}

/// Values of the command line are not blamed on the file.
#[test]
fn laws_and_values_of_the_command_line_are_not_blamed_on_the_file() {
    let folder = folder("blame");
    write(&folder, "hello.toml", HELLO);
    let missing = "error: a law's name is missing\n --> --law\n";
    for (args, part) in [
        (&["run", "--law", "xpc"][..], "\"xpc\"\n --> --law\n  = help: did you mean `xcp`?"),
        (&["run", "--law", ""], missing),
        (&["run", "--law", "xcp,"], missing),
        (&["shell", "--law", "xpc", "s1"], "\"xpc\"\n --> --law\n"),
        (&["compare", "--law", "all,xpc"], "\"xpc\"\n --> --law\n"),
    ] {
        let done = ratewire(&folder, &[&[args[0], "hello.toml"], &args[1..]].concat());
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        assert!(err(&done).contains(part), "{args:?}: {}", err(&done));
    }
    // Spaces after commas are allowed.
    let spaced = ["run", "hello.toml", "--no-files", "--law", " xcp, cubic", "--seed", "1, 2"];
    assert_eq!(ratewire(&folder, &spaced).status.code(), Some(0));
    let named = HELLO.replace("\"s*\"", "\"s2\"").replace("\"d*\"", "\"d2\"");
    write(&folder, "two.toml", &named);
    let run = |file: &str| err(&ratewire(&folder, &["run", file, "--set", "pairs=1"]));
    let said = run("two.toml");
    assert!(said.contains("no node is called \"s2\", with `pairs=1` set\n"), "{said}");
    // An error that exists without the value is the file's own.
    write(&folder, "wrong.toml", &named.replace("min ", "most "));
    let said = run("wrong.toml");
    assert!(said.contains("unknown key `most` in [[expect]] 1\n"), "{said}");
    assert!(said.contains("no node is called \"s2\", with `pairs=1` set\n"), "{said}");
}

/// In a network of listed links, `link` comes before a link's name.
#[test]
fn a_value_of_a_link_is_set_by_link_and_its_name() {
    let folder = folder("links");
    let text = r#"
        duration = "2 s"
        law = "xcp"
        topology = { kind = "custom" }
        node = [{ name = "0" }, { name = "1" }]
        link = [
            { name = "bottleneck", between = ["0", "1"], rate = "9 Mbit/s", delay = "5 ms" },
            { name = "b.c", between = ["1", "0"], rate = "9 Mbit/s", delay = "5 ms" },
        ]
        flow = { from = "1", to = "0" }
    "#;
    write(&folder, "own.toml", text);
    let single = "; in a shell, write the path in single quotes\n";
    for (set, part, is_quoted) in [
        ("bottleneck.rate=1M", "did you mean `link.bottleneck.rate`?\n", false),
        ("\"b.c\".rate=1M", "did you mean `link.\"b.c\".rate`?\n", true),
        ("node.1.host=false", "`node.\"1\"...` takes the name, `node.01...` the number;", true),
    ] {
        let done = ratewire(&folder, &["run", "own.toml", "--set", set]);
        assert_eq!(done.status.code(), Some(2), "{set}: {}", err(&done));
        let said = err(&done);
        assert!(said.contains(part) && said.contains(" --> --set:1:1\n"), "{set}: {said}");
        assert_eq!(said.contains(single), is_quoted, "{set}: {said}");
    }
}

/// If nodes are unknown, their names are not checked. A `--set` that repairs this reveals such
/// errors, but does not cause them.
#[test]
fn what_a_mended_file_has_wrong_besides_is_not_blamed_on_the_command_line() {
    let folder = folder("mended");
    let of_others = HELLO.replace("\"d*\"", "\"d9\"").replace("\"s*\"", "\"s1\"");
    let wrong =
        of_others.replace("pairs      = 2", "pairs = 0").replace("rate = \"10 Mbit/s\", ", "");
    assert!(wrong.contains("pairs = 0") && !wrong.contains("rate ="), "{wrong}");
    write(&folder, "wrong.toml", &wrong);
    let set = ["--set", "pairs=3", "--set", "bottleneck.rate=1M"];
    let said = err(&ratewire(&folder, &[&["run", "wrong.toml"][..], &set].concat()));
    assert!(said.contains("error: no node is called \"d9\"\n"), "{said}");
}

#[test]
fn what_is_given_twice_is_refused() {
    let folder = folder("twice");
    write(&folder, "hello.toml", HELLO);
    let law = "--set law=cubic: --law sets the same value: leave one of them out";
    for (args, why) in [
        (&["run", "--law", "xcp", "--set", "law=cubic"][..], law),
        (&["run", "--seed", "2", "--set", "seed=3"], "--seed sets the same value"),
        (&["shell", "s1", "--law", "xcp", "--set", "law=cubic"], law),
        (&["compare", "--law", "xcp", "--set", "law=cubic"], "--law sets the same value"),
        (
            &["run", "--set", "bottleneck.rate=1M", "--set", "topology.bottleneck.rate=2M"],
            "topology.bottleneck.rate is set twice",
        ),
        (&["run", "--set", "link.a->b.rate=1M", "--set", "link.\"a->b\".rate=2M"], "is set twice"),
        (&["run", "--law", "xcp", "--set", "\"law\"=cubic"], "--law sets the same value"),
    ] {
        let done = ratewire(&folder, &[&[args[0], "hello.toml"], &args[1..]].concat());
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        assert!(err(&done).contains(why), "{args:?}: {}", err(&done));
    }
    let two = ["--law", "xcp", "--set", "seed=3", "--set", "bottleneck.rate=1M"];
    let run = [&["run", "hello.toml", "--quiet", "--no-files"], &two[..]].concat();
    assert_eq!(ratewire(&folder, &run).status.code(), Some(0));
}

/// `link` is a table of the scenario, and a key of its [topology].
#[test]
fn two_keys_of_one_name_are_not_given_twice() {
    let folder = folder("two-links");
    let topology = "kind = \"star\"\nhosts = 2\nlink = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n";
    let star = format!(
        "duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\n{topology}[link]\nname = \"h1->r1\"\n\
         [[flow]]\nfrom = \"h1\"\nto = \"h2\"\n"
    );
    write(&folder, "star.toml", &star);
    let two = ["--set", "topology.link.rate=2M", "--set", "link.rate=3M"];
    let done =
        ratewire(&folder, &[&["run", "star.toml", "--quiet", "--no-files"], &two[..]].concat());
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
}

/// Only the emulated world runs programs.
#[test]
fn a_simulated_run_that_waits_for_programs_is_reported() {
    let folder = folder("programs");
    let program = "[[program]]\nhost = \"s1\"\nrun = \"true\"\n";
    let text = HELLO[..HELLO.find("[[flow]]").expect("one")].to_string() + program;
    write(&folder, "programs.toml", &text);
    for command in [&["run", "--no-files"][..], &["compare", "--no-files"], &["check"]] {
        let done = ratewire(&folder, &[command, &["programs.toml"]].concat());
        let said = err(&done);
        let count = said.matches("nothing is sent in a simulated run").count();
        assert_eq!(count, 1, "{command:?} says: {said}");
    }
}

/// Many times lie beyond the end of a shortened run: one remedy, one warning. Errors come first.
#[test]
fn warnings_of_one_cause_are_one_and_come_after_errors() {
    let folder = folder("short");
    let expect = HELLO[HELLO.find("[[expect]]").expect("one")..].to_string();
    write(&folder, "hello.toml", &format!("{HELLO}{}", format!("\n{expect}").repeat(4)));
    let short = ["run", "hello.toml", "--no-files", "--quiet", "--set", "duration=1s"];
    let done = ratewire(&folder, &short);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert_eq!(err(&done).matches("warning: ").count(), 1, "{}", err(&done));
    assert!(err(&done).contains(" and 3 more\n --> hello.toml\n"), "{}", err(&done));
    let done = ratewire(&folder, &[&short[..], &["--law", "xcp,cubik"]].concat());
    let (error, warning) = (err(&done).find("error: "), err(&done).find("warning: "));
    assert!(error.is_some() && error < warning, "{}", err(&done));
}

/// The duration is the error, and nothing is beyond an unknown end.
#[test]
fn a_duration_that_is_none_is_all_that_is_wrong() {
    let folder = folder("duration");
    write(&folder, "hello.toml", HELLO);
    let done = ratewire(&folder, &["run", "hello.toml", "--set", "duration=5"]);
    assert_eq!(done.status.code(), Some(2));
    let said = err(&done);
    assert!(said.starts_with("error: `duration` cannot be the number 5\n"), "{said}");
    assert_eq!(said.matches("-->").count(), 1, "{said}");
}

#[test]
fn the_message_of_a_scenario_that_expects_nothing_says_how_to() {
    let folder = folder("nothing");
    write(&folder, "hello.toml", HELLO.split("[[expect]]").next().expect("a scenario"));
    let done = ratewire(&folder, &["check", "hello.toml"]);
    assert_eq!(done.status.code(), Some(0), "{}", err(&done));
    assert!(out(&done).contains("hello.toml\nno expectations\n"), "{}", out(&done));
    assert!(out(&done).contains("[[expect]]") && !out(&done).contains("0 of 0"), "{}", out(&done));
}

#[test]
fn the_tutorials_mistake_is_reported_as_it_says() {
    let folder = folder("tutorial");
    let tutorial = include_str!("../../../docs/learn/tutorial.md");
    let block = |has: &str| {
        let blocks = tutorial.split("```").skip(1).step_by(2);
        let found =
            blocks.filter_map(|block| block.split_once('\n')).find(|(_, b)| b.contains(has));
        found.expect("it is in the tutorial").1
    };
    let scenario = block("name = \"backup\"").replacen("queue ", "queu ", 1);
    write(&folder, "two-sites.toml", &scenario);
    let done = ratewire(&folder, &["check", "--syntax", "two-sites.toml"]);
    assert_eq!(err(&done), block("unknown key `queu`"));
}

/// Names may contain anything.
#[test]
fn names_cannot_steer_a_terminal() {
    let folder = folder("steering");
    let flow = "\n[[flow]]\nname = \"f\\u001b[31m\\u202e\"\nfrom = \"s1\"\nto = \"d1\"\n";
    let fails =
        "\n[[expect]]\nmetric = \"goodput\"\nflow = \"f*\\u001b[31m\\u202e\"\nmin = \"1 Gbit/s\"\n";
    let named = format!("{HELLO}{flow}");
    let keys = format!("{named}\"la\\u001b[31m\\nw\" = \"\u{202e}\"\n[options.\"\\u001b[31m\"]\n");
    write(&folder, "keys.toml", &keys);
    write(&folder, "flow.toml", &named);
    write(&folder, "fails.toml", &(named + fails));
    let quiet = ["run", "flow.toml", "--quiet"];
    let answers = [
        ratewire(&folder, &["check", "--syntax", "keys.toml"]),
        ratewire(&folder, &["check", "--quiet", "fails.toml"]),
        ratewire(&folder, &[&quiet[..], &["--capture", "\u{1b}[31m"]].concat()),
        ratewire(&folder, &[&quiet[..], &["--why", "\u{1b}[31m@1s"]].concat()),
        ratewire(&folder, &[&quiet[..], &["--why", "f\u{1b}[31m\u{202e}@1s"]].concat()),
    ];
    for (i, said) in answers.iter().map(|done| out(done) + &err(done)).enumerate() {
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!said.chars().any(steers), "{i}: {said:?}");
        assert!(said.contains("u001b[31m") || said.contains("u{1b}[31m"), "{i}: {said}");
    }
    assert!(err(&answers[0]).contains("unknown key `la\\u001b[31m\\nw` in [[flow]] 2"));
}

#[test]
fn errors_that_are_too_many_to_list_are_counted() {
    let folder = folder("many");
    let keys: String = (0..203).map(|i| format!("k{i} = 1\n")).collect();
    write(&folder, "many.toml", &(keys + HELLO));
    let said = err(&ratewire(&folder, &["check", "--syntax", "many.toml"]));
    assert!(said.contains("\nerror: and 3 more errors, too many to list\n"), "{said}");
    assert!(said.contains("\n203 errors\n") && !said.contains("k202"), "{said}");
}

/// An error of a thousand equal flows is one error.
#[test]
fn what_is_found_again_is_reported_and_counted_once() {
    let folder = folder("again");
    let text = HELLO.replace("pairs      = 2", "pairs = 1000\nrtt = \"1 ms\"");
    write(&folder, "again.toml", &text);
    let said = err(&ratewire(&folder, &["check", "--syntax", "again.toml"]));
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    write(&folder, "again.toml", &text.replace("min ", "most "));
    let said = err(&ratewire(&folder, &["check", "--syntax", "again.toml"]));
    assert!(said.contains("unknown key `most`") && said.contains("\n3 errors\n"), "{said}");
}

/// Flows that start after the end give one warning, however many they are, and hide no other.
#[test]
fn warnings_of_the_end_that_are_not_kept_are_counted_with_the_others() {
    let folder = folder("late");
    let late =
        "[[flow]]\nname = \"late\"\nfrom = \"s1\"\nto = \"d1\"\nstart = \"5 s\"\ncount = 1000\n";
    let other = "\n[[expect]]\nmetric = \"goodput\"\nmin = \"0 bit/s\"\n";
    write(&folder, "late.toml", &format!("{HELLO}{late}{other}"));
    let said = err(&ratewire(&folder, &["check", "--syntax", "late.toml"]));
    let of_flows = "warning: the flow \"late.1\" never starts (line 19), \
                    the flow \"late.2\" never starts (line 19) and 998 more\n --> late.toml\n";
    assert!(said.contains(of_flows), "{said}");
    assert_eq!(said.matches("warning: ").count(), 2, "{said}");
}

/// `reproduce` without names lists papers, and `check --syntax` prints no results.
#[test]
fn options_that_would_do_nothing_are_refused() {
    let folder = folder("idle");
    write(&folder, "hello.toml", HELLO);
    let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers");
    let names = "<PAPER[/FIGURE]|--all>";
    for (args, why) in [
        (&["check", "--syntax", "--json", "hello.toml"][..], "cannot be used with '--json'"),
        (&["reproduce", "--json"], names),
        (&["reproduce", "--out", "page.html"], names),
        (&["reproduce", "--world", "emulate"], names),
        (&["reproduce", "--all", "xcp"], "cannot be used with"),
    ] {
        let done = ratewire(&folder, args);
        assert_eq!(done.status.code(), Some(2), "{args:?}: {}", out(&done));
        assert!(err(&done).contains(why), "{args:?}: {}", err(&done));
    }
    for args in [&["check", "--syntax", "hello.toml"][..], &["reproduce", "--papers", papers]] {
        let done = ratewire(&folder, args);
        assert_eq!(done.status.code(), Some(0), "{args:?}: {}", err(&done));
    }
}
