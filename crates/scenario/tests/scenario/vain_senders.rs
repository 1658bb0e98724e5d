//! Keys of flows, traffic and receivers without effect are reported.

use ratewire_scenario::{Scenario, ScenarioError};

use crate::common::{refused, scenario, shown, warned};

/// A dumbbell of one pair with further lines.
fn dumbbell(more: &str) -> String {
    format!(
        "duration = \"2 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\" }}\n{more}\n"
    )
}

fn flow(more: &str) -> String {
    dumbbell(&format!("[[flow]]\nfrom = \"s1\"\nto = \"d1\"\n{more}"))
}

/// Warnings about a simulated run under one law that an emulated run does not have.
fn simulated(text: &str, law: &str) -> String {
    let scenario = scenario(text);
    let plan = scenario.plan(Some(law), None).expect("a plan");
    assert_eq!(shown(&plan.warnings), "");
    shown(&scenario.vain_when_simulated(&plan))
}

#[test]
fn a_slow_reader_that_holds_nobody_back_is_reported() {
    let slow = "reader = { per_frame = \"5 ms\" }\n";
    let said = simulated(&flow(slow), "newreno");
    assert!(
        said.contains(
            "in a simulated run the reader of \"s1->d1\" slows no sender down: its receive window is unlimited"
        ),
        "{said}"
    );
    assert!(said.contains("receive_window = \"64 KB\""), "{said}");
    let many = format!("{slow}count = 3\n");
    assert!(simulated(&flow(&many), "newreno").contains("\"s1->d1\" and 2 more"));
    for window in ["\"64 KB\"", "{ initial = \"4 packets\", max = \"4 MB\" }"] {
        let window = format!("{slow}transport = {{ receive_window = {window} }}");
        assert_eq!(simulated(&flow(&window), "newreno"), "");
    }
    // Receivers of this law report how full their buffer is.
    let soft = format!("{slow}law = \"xcp\"\noptions = {{ flow_control = \"soft\" }}");
    assert_eq!(simulated(&flow(&soft), "xcp"), "");
    assert_eq!(simulated(&flow("reader = { per_frame = \"0 s\" }"), "newreno"), "");

    // A packet to a switch goes on to a host, whose reader is checked there. `h2` is a switch too,
    // of another ensemble.
    let star = "duration = \"1 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"star\"\nhosts = 6\n\
                link = { rate = \"10 Mbit/s\", delay = \"1 ms\" }\n\
                [[ensemble]]\nname = \"a\"\npeer = \"h1\"\nswitch = \"h2\"\nmembers = [\"h3\"]\n\
                [[ensemble]]\nname = \"b\"\npeer = \"h4\"\nswitch = \"h5\"\n";
    let member = |reader: &str| format!("{star}members = [{{ node = \"h2\"{reader} }}, \"h6\"]\n");
    assert_eq!(simulated(&member(""), "newreno"), "");
    let said = simulated(&member(", reader = { per_frame = \"5 ms\" }"), "newreno");
    assert!(said.contains("in a simulated run the reader of \"b"), "{said}");
}

/// Warnings about a run under one law.
fn planned(text: &str, law: &str) -> String {
    shown(&scenario(text).plan(Some(law), None).expect("a plan").warnings)
}

#[test]
fn senders_that_nothing_marks_are_reported() {
    let marking = |bottleneck: &str, transport: &str| {
        let text = flow(&format!("count = 2\n[transport]\n{transport}"));
        text.replace("\"10 ms\"", &format!("\"10 ms\"{bottleneck}"))
    };
    let message = "`ecn` allows marks on packets of \"s1->d1\" and 1 more, but no queue marks";
    let said = planned(&marking("", "ecn = true"), "cubic");
    assert!(said.contains(message) && said.matches("warning: ").count() == 1, "{said}");
    for drops in [", discipline = \"codel\"", ", discipline = { red = {} }"] {
        assert!(planned(&marking(drops, "ecn = true"), "cubic").contains(message), "{drops}");
    }
    for marks in [
        ", discipline = { codel = { ecn = true } }",
        ", discipline = { red = { ecn = true } }",
        ", law = \"dctcp\", queue = \"1 MB\"",
    ] {
        assert_eq!(planned(&marking(marks, "ecn = true"), "cubic"), "", "{marks}");
    }
    assert_eq!(planned(&marking(", queue = \"1 MB\"", "ecn = true"), "dctcp"), "");
    assert_eq!(planned(&marking("", "ecn = false"), "cubic"), "");
}

#[test]
fn queues_that_are_full_before_they_are_marked_are_reported() {
    let queue = |room: &str, threshold: &str| {
        let text = flow("").replace("\"10 ms\"", &format!("\"10 ms\", queue = \"{room}\""));
        planned(&format!("{text}[options.dctcp]\nthreshold = \"{threshold}\"\n"), "dctcp")
    };
    let said = queue("50 packets", "65 packets");
    let message = "the queue of \"bottleneck\" is full before dctcp marks: it has room for 50 packets, and `threshold` is 65 packets";
    assert!(said.contains(message), "{said}");
    // The last packet with room finds all others waiting.
    for (room, threshold) in [
        ("66 packets", "65 packets"),
        ("10 packets", "13.5 KB"),
        ("15 KB", "9 packets"),
        ("15 KB", "13.5 KB"),
    ] {
        assert!(queue(room, threshold).contains("is full before"), "{room}, {threshold}");
    }
    for (room, threshold) in [
        ("67 packets", "65 packets"),
        ("10 packets", "13.4 KB"),
        ("15 KB", "8.9 packets"),
        ("15 KB", "13.4 KB"),
        ("unlimited", "65 packets"),
    ] {
        assert_eq!(queue(room, threshold), "", "{room}, {threshold}");
    }
    // Behind paused links all packets wait in the buffers of those links.
    let star = |pause: &str| {
        planned(
            &format!(
                "duration = \"1 s\"\nlaw = \"dctcp\"\n[topology]\nkind = \"star\"\nhosts = 3\n\
                 link = {{ rate = \"1 Gbit/s\", delay = \"10 us\"{pause} }}\n\
                 [[flow]]\nfrom = \"h2\"\nto = \"h1\"\n"
            ),
            "dctcp",
        )
    };
    assert!(star("").contains("the queue of \"r1->h1\" and 1 more is full before"));
    assert!(star(", pause = true").contains("the queue of \"h2->r1\" is full before"));
    let red = flow("")
        .replace("\"10 ms\"", "\"10 ms\", queue = \"9 packets\", discipline = { red = {} }");
    assert_eq!(planned(&red, "dctcp"), "");
    assert_eq!(
        planned(&flow("").replace("\"10 ms\"", "\"10 ms\", queue = \"9 packets\""), "cubic"),
        ""
    );
}

#[test]
fn paths_with_more_ports_than_headers_hold_are_reported() {
    let line = |hops: u32, sends: &str| {
        let text = format!(
            "duration = \"1 s\"\nlaw = \"hpcc\"\n[topology]\nkind = \"parking-lot\"\nhops = {hops}\n\
             link = {{ rate = \"100 Mbit/s\", delay = \"1 ms\" }}\n{sends}"
        );
        planned(&text, "hpcc")
    };
    let flow = "[[flow]]\nname = \"long\"\nfrom = \"s0\"\nto = \"d0\"\n";
    let traffic = "[[traffic]]\nname = \"long\"\narrivals = { every = \"9 ms\" }\n\
                   sizes = { fixed = \"1 KB\" }\nbetween = [[\"s0\", \"d0\"]]\n";
    for sends in [flow, traffic] {
        // Beside those of the hops there are the ports of s0 and of the last router.
        let said = line(7, sends);
        let message = "packets of long pass 9 ports of hpcc, and their headers hold the last 5: hpcc is blind to queues up to \"hop3\"";
        assert!(said.contains(message) && said.matches("warning: ").count() == 1, "{said}");
        assert!(line(5, sends).contains("up to \"hop1\""));
        assert_eq!(line(4, sends), "", "only the sender's own queue is left out");
    }
}

#[test]
fn senders_whose_own_queue_does_not_make_them_wait_are_reported() {
    let star = |link: &str, sends: &str| {
        format!(
            "duration = \"1 s\"\nlaw = \"noq\"\n[topology]\nkind = \"star\"\nhosts = 3\n\
             link = {{ rate = \"1 Gbit/s\", delay = \"10 us\"{link} }}\n{sends}"
        )
    };
    let flow = "[[flow]]\nfrom = \"h2\"\nto = \"h1\"\n";
    let traffic = "[[traffic]]\nname = \"t\"\narrivals = { every = \"9 ms\" }\n\
                   sizes = { fixed = \"1 KB\" }\nbetween = [[\"h2\", \"h1\"]]\n";
    for (sends, name) in [(flow, "h2->h1"), (traffic, "t")] {
        let said = simulated(&star(", pause = true", sends), "noq");
        let message = format!(
            "only queues slow down {name:?}, and in a simulated run the queue at their host drops packets when full"
        );
        assert!(said.contains(&message), "{said}");
        assert_eq!(simulated(&star(", pause = true", sends), "newreno"), "");
        assert_eq!(simulated(&star(", pause = true, sockets = \"in-turn\"", sends), "noq"), "");
        assert_eq!(simulated(&star("", sends), "noq"), "", "nothing is paused");
        let endless = star(", pause = true, queue = \"unlimited\"", sends);
        assert_eq!(simulated(&endless, "noq"), "", "and drops nothing");
        // Only the sender's own link matters.
        let own = format!("{sends}[[link]]\nname = \"h2->r1\"\nsockets = \"random\"\n");
        assert_eq!(simulated(&star(", pause = true", &own), "noq"), "");
    }
}

#[test]
fn senders_that_stand_for_nobody_are_refused() {
    let traffic = |between: &str| {
        dumbbell(&format!(
            "[[traffic]]\narrivals = {{ every = \"1 s\" }}\nsizes = {{ fixed = \"1 KB\" }}\nbetween = {between}"
        ))
    };
    let said = refused(&traffic("[]"));
    assert!(said.contains("[[traffic]] 1 has nobody to send to"), "{said}");
    let flow =
        |from: &str, to: &str| dumbbell(&format!("[[flow]]\nfrom = \"{from}\"\nto = \"{to}\""));
    for (from, to) in [("s1", "s*"), ("s*", "s1")] {
        for text in [flow(from, to), traffic(&format!("[[\"{from}\", \"{to}\"]]"))] {
            let said = refused(&text);
            assert!(said.contains("\"s*\" is \"s1\" alone, the other end"), "{said}");
        }
    }
    let more = "\n[[node]]\nname = \"s2\"\n[[link]]\nbetween = [\"s2\", \"r1\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"";
    assert_eq!(warned(&(flow("s1", "s*") + more)), "");
}

#[test]
fn traffic_that_never_starts_is_reported() {
    let traffic = |more: &str| {
        warned(&dumbbell(&format!(
            "[[traffic]]\nname = \"t\"\narrivals = {{ every = \"1 s\" }}\nsizes = {{ fixed = \"1 KB\" }}\n{more}"
        )))
    };
    for start in ["2 s", "10 s"] {
        let said = traffic(&format!("start = \"{start}\"\nstop = \"20 s\""));
        assert!(said.contains("the traffic \"t\" never starts"), "{said}");
        assert!(said.contains("the run ends at 2 s"), "{said}");
    }
    assert_eq!(traffic("start = \"1 s\"\nstop = \"20 s\""), "");
}

/// Reads traffic whose arrivals are in a file with these lines.
fn listed(file: &str, more: &str) -> Result<Scenario, ScenarioError> {
    let traffic = format!("[[traffic]]\nname = \"t\"\narrivals = {{ file = \"a.txt\" }}\n{more}");
    crate::common::parse_with(&dumbbell(&traffic), &[("a.txt", file)])
}

#[test]
fn files_with_flows_that_never_arrive_are_reported() {
    let warned = |more: &str| {
        let read = listed("1 s1 d1 1000\n3 s1 d1 1000\n", more);
        shown(&read.unwrap_or_else(|all| panic!("{all}")).warnings)
    };
    for (more, wanted) in [
        ("start = \"1.5 s\"", "no flow of \"a.txt\" arrives from 1.5 s up to 2 s"),
        ("stop = \"0.5 s\"", "no flow of \"a.txt\" arrives from 0 s up to 500 ms"),
        ("start = \"2 s\"\nstop = \"9 s\"", "the traffic \"t\" never starts"),
    ] {
        let said = warned(more);
        assert!(said.contains(wanted) && said.matches("-->").count() == 1, "{said}");
    }
    assert!(warned("stop = \"0.5 s\"").contains("its first is at 1 s, its last at 3 s"));
    let part = warned("");
    assert!(part.contains("1 of 2 flows of \"a.txt\" starts after the run's end"), "{part}");
    assert!(part.contains("that is 2 s; the file's last flow starts at 3 s"), "{part}");
    let stopped = warned("stop = \"1.5 s\"");
    assert!(stopped.contains("1 of 2 flows of \"a.txt\" starts after the traffic's `stop`"));
    let exactly = listed("1 s1 d1 9\n2 s1 d1 9\n2 s1 d1 9\n", "").expect("a scenario").warnings;
    assert!(shown(&exactly).contains("2 of 3 flows of \"a.txt\" start after the run's end"));
    let all = listed("1 s1 d1 9\n1.9 s1 d1 9\n", "").expect("a scenario").warnings;
    assert_eq!(shown(&all), "");
    let late = listed("2 s1 d1 1000\n", "").expect("a scenario").warnings;
    assert!(shown(&late).contains("no flow of \"a.txt\" arrives"), "{}", shown(&late));
}

#[test]
fn a_file_of_arrivals_without_a_way_is_refused() {
    let lone = "[[node]]\nname = \"lone\"\n";
    let said = listed("0 s1 d1 9\n1 s1 lone 9\n1 s1 lone 9\n", lone).expect_err("no way");
    let said = said.to_string();
    assert!(said.contains("a.txt:2: no path leads from \"s1\" to \"lone\""), "{said}");
    assert!(said.contains("the data of this traffic cannot arrive; add a [[link]]"), "{said}");
    assert_eq!(said.matches("no path").count(), 1, "{said}");
    let never =
        |when: &str| listed("1 s1 lone 9\n1.5 s1 d1 9\n2 s1 d1 9\n", &format!("{when}\n{lone}"));
    assert!(never("start = \"1.1 s\"").is_ok(), "it does not arrive");
    assert!(never("start = \"1 s\"").is_err());
}

#[test]
fn a_load_of_demands_is_of_all_of_them() {
    let demands = |load: &str, between: &str| {
        let file = "{\"directed\": false, \"multigraph\": false, \"graph\": {\"demands\": {\"0\": {\"1\": 1000}}}, \
                    \"nodes\": [{\"id\": 0, \"name\": \"a\", \"pos\": [8, 47]}, {\"id\": 1, \"name\": \"b\", \"pos\": [8, 48]}], \
                    \"links\": [{\"source\": 0, \"target\": 1, \"dist\": 100}]}";
        let text = format!(
            "duration = \"2 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"graph\"\nfile = \"g\"\n\
             link = {{ rate = \"10 Mbit/s\" }}\n\
             [[traffic]]\nsizes = {{ fixed = \"1 KB\" }}\nload = {{ {load} }}\n{between}"
        );
        crate::common::parse_with(&text, &[("g", file)])
    };
    let between = "between = \"demands\"";
    let read = demands("demands = 0.5", between);
    assert!(read.is_ok(), "{}", read.unwrap_err().to_string());
    let said = demands("demands = 0.5, link = \"a->b\"", between).expect_err("no link").to_string();
    assert!(said.contains("`link` means nothing here: demands are of no link"), "{said}");
    for between in ["", "between = \"all\"", "between = [[\"a\", \"b\"]]"] {
        let said = demands("demands = 0.5", between).expect_err("other pairs").to_string();
        assert!(said.contains("`demands` needs between = \"demands\""), "{said}");
    }
}

#[test]
fn keys_of_flows_that_come_to_nothing_are_reported() {
    for (more, wanted) in [
        ("stagger = \"1 s\"", "`stagger` means nothing here: there is a single flow"),
        ("lie = {}", "`lie` changes nothing"),
        ("lie = { rtt = 1 }", "`lie` changes nothing"),
        (
            "reader = { per_frame = [\"1 ms\", \"2 ms\"], every = \"2 s\" }",
            "the reader's second speed is never its own",
        ),
    ] {
        let said = warned(&flow(more));
        assert!(said.contains(wanted) && said.contains("^"), "{more}: {said}");
    }
    for more in [
        "stagger = \"1 s\"\ncount = 2",
        "stagger = \"0 s\"",
        "lie = { rtt = 2 }",
        "reader = { per_frame = [\"1 ms\", \"2 ms\"], every = \"1.9 s\" }",
    ] {
        assert_eq!(warned(&flow(more)), "", "{more}");
    }
}
