//! Keys without effect are reported.

use crate::common::{dumbbell, flow, refused, scenario, shown, warned};

const FLOW: &str = "[[flow]]\nfrom = \"a\"\nto = \"c\"\n";

/// Hosts `a` and `b` at a switch, and host `c` behind it.
fn star(inputs: &str, output: &str) -> String {
    let mut text =
        "duration = \"2 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"custom\"\n".to_string();
    for node in ["a", "b", "c"] {
        text += &format!("[[node]]\nname = \"{node}\"\n");
    }
    text += "[[node]]\nname = \"s\"\nhost = false\n";
    let mut link = |from: &str, to: &str, more: &str| {
        text += &format!(
            "[[link]]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n{more}\n"
        );
    };
    link("a", "s", inputs);
    link("b", "s", inputs);
    link("s", "c", output);
    text + FLOW
}

#[test]
fn a_queue_that_nothing_waits_in_is_reported() {
    let unused = "queue = \"9 packets\"\nreverse = { queue = \"8 packets\", pause = true }";
    let said = warned(&star("pause = true", unused));
    assert!(said.contains("`queue` of \"s->c\" means nothing here"), "{said}");
    // The queue of the host at the other end is used; so is that of a switch with an unpaused
    // input.
    for (inputs, output) in [
        ("pause = true", "queue = \"9 packets\"\nreverse = { pause = true }"),
        ("pause = true", "queue = \"9 packets\"\nreverse = { queue = \"8 packets\" }"),
        ("", unused),
        ("pause = true", "reverse = { pause = true }"),
        ("pause = true\nqueue = \"9 packets\"", "reverse = { pause = true }"),
    ] {
        assert_eq!(warned(&star(inputs, output)), "", "{inputs} {output}");
    }
}

#[test]
fn a_discipline_that_cannot_sort_is_reported() {
    let message = "fq-codel does nothing at \"s->c\"";
    let sorts = "discipline = \"fq-codel\"";
    assert!(warned(&star("pause = true", sorts)).contains(message));
    assert_eq!(warned(&star("", sorts)), "");
    assert_eq!(warned(&star("pause = true", "discipline = \"codel\"")), "");
}

#[test]
fn a_link_that_nothing_is_changed_of_is_refused() {
    let said = refused(&star("", "name = \"out\"\n[[link]]\nname = \"out\""));
    assert!(said.contains("[[link]] 4 changes nothing of \"out\""), "{said}");
    let one_way = "[[link]]\nfrom = \"c\"\nto = \"a\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
                   [[link]]\nname = \"c->a\"\nreverse = { rate = \"2 Mbit/s\" }\n";
    let said = refused(&star("", one_way));
    assert!(said.contains("\"c->a\" has no other direction"), "{said}");
    // An empty `reverse` has no effect.
    let empty = one_way.replace("delay = \"1 ms\"\n", "delay = \"1 ms\"\nreverse = {}\n");
    let said = refused(&star("", &empty));
    assert_eq!(said.matches("error: ").count(), 1, "{said}");
    // Of several links, those with another direction change it.
    let some = one_way.replace("name = \"c->a\"", "name = \"c->*\"");
    assert_eq!(warned(&star("", &some)), "");
    let empty = "name = \"out\"\n[[link]]\nname = \"out\"\nreverse = {}";
    assert!(refused(&star("", empty)).contains("[[link]] 4 changes nothing of \"out\""));
}

#[test]
fn a_round_trip_that_no_queue_is_reckoned_from_is_reported() {
    let message = "`queue_rtt` means nothing here";
    for (link, times) in [
        ("queue_rtt = \"1 s\"", 0),
        ("queue_rtt = \"1 s\"\nqueue = \"2 bdp\"", 0),
        ("queue_rtt = \"1 s\"\nqueue = \"50 ms\"", 1),
        // A value that one direction reads is in use.
        ("queue_rtt = \"1 s\"\nqueue = \"2 bdp\"\nreverse = { queue = \"9 packets\" }", 0),
        ("reverse = { queue_rtt = \"1 s\", queue = \"9 packets\" }", 1),
    ] {
        assert_eq!(warned(&star("", link)).matches(message).count(), times, "{link}");
    }
    // On access links, routers' queues are in bdp unless given.
    let access = |more: &str| warned(&dumbbell(&format!("[topology.access]\n{more}")));
    assert!(!access("queue_rtt = \"1 s\"").contains(message));
    assert!(access("queue_rtt = \"1 s\"\nqueue = \"unlimited\"").contains(message));
}

/// A scenario with an ensemble at the switch of [`star`].
fn ensemble(more: &str) -> String {
    star("", "") + "[[ensemble]]\nname = \"kv\"\npeer = \"c\"\nswitch = \"s\"\n" + more + "\n"
}

#[test]
fn what_comes_after_the_end_is_reported() {
    let said = warned(&ensemble(
        "start = \"2 s\"\n\
         members = [{ node = \"a\", fails = [\"1 s .. 3 s\", \"4 s .. 5 s\"] }, { node = \"b\", idle = [\"2 s .. 3 s\"] }]",
    ));
    for wanted in [
        "this ensemble never starts",
        "`fails` of \"a\" has no effect from 4 s on",
        "`idle` of \"b\" has no effect from 2 s on",
    ] {
        assert!(said.contains(wanted), "{said}");
    }
    assert_eq!(
        warned(&ensemble("members = [{ node = \"a\", fails = [\"1 s .. 3 s\"] }, \"b\"]")),
        ""
    );
}

#[test]
fn overlays_whose_prices_or_salaries_stand_still_are_reported() {
    let overlay = |more: &str| {
        let group = "[[group]]\nname = \"g\"\nsenders = [\"s1\"]\nreceivers = [\"d1\"]\n";
        let text = dumbbell(&format!("[overlay]\nlinks = [[\"s1\", \"d1\"]]\n{more}\n{group}"));
        warned(&text.replace("xcp", "newreno"))
    };
    assert!(overlay("interval = \"10 s\"").contains("prices are announced once and never again"));
    let said = overlay("threshold = 60\ncap = 50");
    assert!(said.contains("a threshold of $60 is more than a client may ever hold"), "{said}");
    assert_eq!(overlay("interval = \"9 s\"\nthreshold = 50\ncap = 50"), "");
}

#[test]
fn flows_that_are_to_complete_and_never_do_are_reported() {
    let completes = |more: &str| {
        let expect = "[[expect]]\nmetric = \"completion_time\"\nmax = \"1 s\"\n";
        warned(&dumbbell(&format!("{}{more}{expect}", flow())))
    };
    for endless in ["", "app = { constant = { rate = \"1 Mbit/s\" } }\n"] {
        let said = completes(endless);
        assert!(said.contains("\"s1->d1\" never completes: it has no end"), "{endless}: {said}");
    }
    let said = completes("stop = \"10 s\"\n");
    assert!(said.contains("\"s1->d1\" does not complete: it stops when the run does"), "{said}");
    for ends in ["size = \"1 MB\"\n", "stop = \"9 s\"\n"] {
        assert_eq!(completes(ends), "", "{ends}");
    }
    let expect = "\n[[expect]]\nmetric = \"completion_time\"\nflow = \"*\"\nmax = \"1 s\"\n";
    let members = "members = [\"a\", \"b\"]\nsize = \"1 MB\"";
    let sized = ensemble(&format!("direction = \"inbound\"\n{members}{expect}"));
    assert!(!warned(&sized).contains("\"kv\" never completes"), "it ends with its edges");
}

/// Warnings about a run under one law.
fn planned(text: &str, law: &str) -> String {
    shown(&scenario(text).plan(Some(law), None).expect("a plan").warnings)
}

#[test]
fn a_run_in_which_nothing_is_sent_is_reported() {
    assert!(planned(&dumbbell(""), "xcp").contains("nothing is sent"));
    let traffic = "[[traffic]]\narrivals = { every = \"1 s\" }\nsizes = { fixed = \"1 KB\" }\n\
                   between = [[\"s1\", \"d1\"]]";
    let program = "[[program]]\nhost = \"s1\"\nrun = \"ping d1\"";
    let overlay = "[overlay]\nlinks = [[\"s1\", \"d1\"]]\n\
                   [[group]]\nname = \"g\"\nsenders = [\"s1\"]\nreceivers = [\"d1\"]";
    for sends in [flow(), traffic, program, overlay] {
        assert_eq!(planned(&dumbbell(sends), "newreno"), "", "{sends}");
        let scenario = scenario(&dumbbell(sends));
        let plan = scenario.plan(Some("newreno"), None).expect("a plan");
        let is_warned = !scenario.vain_when_simulated(&plan).is_empty();
        assert_eq!(is_warned, sends == program, "programs do not run when simulated: {sends}");
    }
}

#[test]
fn links_on_the_way_that_carry_nothing_are_reported() {
    let rate_zero = |link: &str, more: &str| {
        let given = "rate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n";
        warned(&(star("", "").replace(given, link) + more))
    };
    let both = "rate = \"0 bit/s\"\ndelay = \"1 ms\"\n";
    let said = rate_zero(both, "");
    for crossed in ["\"a->s\" and 1 more", "\"s->c\" and 1 more"] {
        assert!(said.contains(&format!("nothing ever crosses {crossed}: the rate is 0")), "{said}");
    }
    assert!(!said.contains("b->s"), "no flow goes there: {said}");
    let back = "rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\nreverse = { rate = \"0 bit/s\" }\n";
    assert!(
        rate_zero(back, "").contains("nothing ever crosses \"c->s\":"),
        "nor do acknowledgements"
    );
    let change = |at: &str, rate: &str| {
        rate_zero(both, &format!("[[change]]\nlink = \"*\"\nat = \"{at}\"\nrate = \"{rate}\"\n"))
    };
    assert_eq!(change("1 s", "1 Mbit/s"), "");
    for vain in [change("1 s", "0 bit/s"), change("3 s", "1 Mbit/s")] {
        assert!(vain.contains("nothing ever crosses"), "{vain}");
    }
}

/// Ports of a law in Rust do not read the headers of its twin in C, and vice versa.
#[test]
fn twins_that_meet_are_reported() {
    let warnings = |law: &str, more: &str| {
        shown(&scenario(&dumbbell(more)).plan(Some(law), None).unwrap().warnings)
    };
    let said = warnings("xcp@kernel", &format!("{}law = \"xcp\"\n", flow()));
    assert!(
        said.contains("\"s1->d1\" uses xcp, but the port of \"s1->r1\" is of xcp@kernel"),
        "{said}"
    );
    for (law, more) in [("xcp", ""), ("xcp@kernel", ""), ("xcp", "law = \"newreno\"\n")] {
        assert_eq!(warnings(law, &format!("{}{more}", flow())), "", "{law} {more}");
    }
}

#[test]
fn a_law_whose_ports_are_not_on_the_way_is_reported() {
    let beside = |law: &str, more: &str| {
        planned(&dumbbell(&format!("{}law = \"rcp\"\n{more}", flow())), law)
    };
    let said = beside("xcp", "");
    assert!(said.contains("\"s1->d1\" uses rcp, but no port on its route is of rcp"), "{said}");
    let more = "[[flow]]\nname = \"b\"\nfrom = \"s1\"\nto = \"d1\"\nlaw = \"rcp\"\noptions = { after_loss = \"ignore\" }\n";
    assert_eq!(beside("xcp", more), said, "once for each law, whatever its options");
    assert_eq!(beside("rcp", ""), "");
    // One port on the route is enough, and a law that reacts to marks obeys those of any queue.
    let access = dumbbell(flow()).replace("}\n", "}\naccess = { law = \"none\" }\n");
    assert_eq!(planned(&access, "xcp"), "");
    let nowhere = access.replace("delay = \"20 ms\"", "delay = \"20 ms\", law = \"none\"");
    assert!(planned(&nowhere, "xcp").contains("no port on its route is of xcp"));
    assert_eq!(planned(&nowhere, "dctcp"), "");
}

#[test]
fn arrivals_from_a_file_are_looked_at_too() {
    let traffic = "[[traffic]]\nname = \"t\"\nlaw = \"rcp\"\narrivals = { file = \"a.txt\" }\n";
    let text = dumbbell(traffic);
    let read = crate::common::parse_with(&text, &[("a.txt", "0.5 s1 d1 1000\n0.6 s1 d1 1000\n")]);
    let said = shown(&read.expect("a scenario").plan(Some("xcp"), None).expect("a plan").warnings);
    assert_eq!(said.matches("\"t\" uses rcp, but no port on its route").count(), 1, "{said}");
}

/// The switch of an ensemble carries the feedback of the ports of some edges on.
#[test]
fn an_ensemble_with_ports_on_some_of_its_edges_is_not_warned_of() {
    for direction in ["inbound", "outbound", "both"] {
        assert_eq!(edges("none", direction), "", "{direction}");
    }
}

#[test]
fn an_ensembles_edges_that_meet_a_twin_are_reported() {
    for (direction, edge, link) in [("inbound", "kv", "c->s"), ("outbound", "kv.out", "s->c")] {
        let said = edges("xcp@kernel", direction);
        let wanted = format!("\"{edge}\" uses xcp, but the port of \"{link}\" is of xcp@kernel");
        assert!(said.contains(&wanted), "{said}");
    }
}

/// Warnings about an ensemble of xcp alone; the peer's link has ports of `law`.
fn edges(law: &str, direction: &str) -> String {
    let more = format!("members = [\"a\", \"b\"]\ndirection = \"{direction}\"");
    let text = ensemble(&more).replace("newreno", "xcp").replace(FLOW, "");
    let (members, peer) = text.split_once("between = [\"s\", \"c\"]").expect("the peer's link");
    planned(&format!("{members}between = [\"s\", \"c\"]\nlaw = \"{law}\"{peer}"), "xcp")
}

#[test]
fn the_reason_why_a_policer_holds_nobody_is_true() {
    let said = |law: &str| {
        let text =
            dumbbell(flow()).replace("delay = \"20 ms\" }", "delay = \"20 ms\", police = true }");
        shown(&scenario(&text).plan(Some(law), None).unwrap().warnings)
    };
    for (law, why) in [
        ("newreno", "its packets carry no congestion header"),
        ("xcp@kernel", "does not read the headers of the kernel's laws"),
        ("rcp@kernel", "does not read the headers of the kernel's laws"),
        ("jetmax@kernel", "does not read the headers of the kernel's laws"),
        ("abc", "its ports say faster or slower"),
    ] {
        assert!(said(law).contains(why), "{law}: {}", said(law));
    }
}

#[test]
fn a_medium_that_is_not_there_or_not_shared_is_reported() {
    let dumbbell = |bottleneck: &str| {
        format!(
            "duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"dumbbell\"\n\
             bottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\", {bottleneck} }}\n\
             [[flow]]\nfrom = \"s1\"\nto = \"d1\"\n"
        )
    };
    let said = warned(&dumbbell("contention = \"random\""));
    assert!(said.contains("`contention` means nothing here"), "{said}");
    let shared = ["duplex = \"half\", contention = \"random\"", "medium = \"air\""];
    for quiet in [shared[0], shared[1], "duplex = \"full\", contention = \"random\""] {
        assert_eq!(warned(&dumbbell(quiet)), "", "{quiet}");
    }
    let alone = "[[link]]\nfrom = \"s1\"\nto = \"d1\"\nrate = \"1 kbit/s\"\ndelay = \"1 s\"\nmedium = \"air\"\n";
    let said = warned(&(dumbbell("law = \"xcp\"") + alone));
    assert!(said.contains("only \"s1->d1\" is on the medium \"air\""), "{said}");
    let half = alone.replace("medium = \"air\"", "duplex = \"half\"");
    let said = warned(&(dumbbell("law = \"xcp\"") + &half));
    assert!(said.contains("\"s1->d1\" has no other direction"), "{said}");
}

#[test]
fn an_error_behind_more_warnings_than_are_kept_is_reported() {
    let said = refused(
        "duration = \"1 s\"\nlaw = \"xcp\"\n[topology]\nkind = \"fat-tree\"\nk = 8\n\
         link = { rate = \"1 Gbit/s\", delay = \"5 us\", contention = \"random\" }\n\
         access = { rate = \"1 Gbit/s\", delay = \"5 us\" }\n\
         [[flow]]\nfrom = \"h1\"\nto = \"h2\"\n[[expect]]\nmetric = \"utilization\"\nmin = 0.5\n",
    );
    assert!(said.contains("\"utilization\""), "{said}");
}

#[test]
fn an_overlay_is_read_to_its_last_group_whatever_is_wrong_before() {
    let groups = |service: &str| {
        format!(
            "[overlay]\nnodes = NODES\n[[group]]\nname = \"one\"\nservice = {service}\n\
             senders = [\"a\"]\nreceivers = [\"b\", \"c\"]\njoins = [[\"1 s\", \"a\"]]\nleaves = [[\"9 s\", \"c\"]]\n\
             [[expect]]\nmetric = \"received\"\ngroup = \"one\"\nnode = \"b\"\nmin = \"1 bit/s\"\n\
             [[expect]]\nmetric = \"price_max\"\nconnection = \"a=>b\"\nmax = 9\n"
        )
    };
    let errors = |kind: &str, nodes: &str, service: &str| {
        let text = star("", "").replace(FLOW, &groups(service));
        let text = text.replace("\"custom\"", kind).replace("NODES", nodes);
        let wrong = crate::common::parse(&text).err().map(|errors| errors.diagnostics);
        let wrong = wrong.unwrap_or_default();
        wrong.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect::<Vec<_>>()
    };
    let all = "[\"a\", \"b\", \"c\"]";
    assert!(errors("\"custom\"", all, "\"fifo\"").is_empty());
    for (kind, nodes) in
        [("true", all), ("\"custom\"", "[\"a\", \"nobody\"]"), ("\"custom\"", "[\"a\"]")]
    {
        assert_eq!(errors(kind, nodes, "\"fifo\"").len(), 1, "{kind} {nodes}");
        let both = errors(kind, nodes, "\"fast\"");
        assert!(both.len() == 2 && both[1].contains("`service`"), "{kind} {nodes}: {both:?}");
    }
}
