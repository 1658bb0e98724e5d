//! Help texts that really help, and names that can be used.

use ratewire_units::Duration;

use crate::common::{dumbbell, flow, refused, scenario, setup};

#[test]
fn where_to_run_without_what_to_run_is_reported() {
    let said = refused(&dumbbell(&format!("{}run_at = \"to\"", flow())));
    assert!(said.contains("`run_at` needs `run`"), "{said}");
    assert!(!said.contains("another key"), "{said}");
}

#[test]
fn a_list_that_is_wrong_is_named_by_what_is_in_it() {
    let position = |list: &str| {
        refused(&dumbbell(&format!("[[node]]\nname = \"x\"\nposition = {list}\n{}", flow())))
    };
    let said = position("[1, nan]");
    assert!(
        said.contains(
            "`position` cannot be a list of the number 1 and the number nan, which is not finite"
        ),
        "{said}"
    );
    assert!(position("[]").contains("`position` cannot be an empty list"));
    assert!(position("[1, 2, 3, 4]").contains("`position` cannot be a list of 4"));
    let group = "[overlay]\nlinks = [[\"s1\", \"d1\"]]\n\
                 [[group]]\nname = \"g\"\nsenders = [[\"s1\", -1]]\nreceivers = [\"d1\"]\n";
    let said = refused(&dumbbell(group));
    assert!(said.contains("`senders` cannot be a list of \"s1\" and the number -1"), "{said}");
}

#[test]
fn a_queue_that_is_too_large_is_refused_as_such() {
    let queue = |size: &str| {
        let bottleneck = format!("delay = \"20 ms\", queue = \"{size}\"");
        refused(&dumbbell(flow()).replace("delay = \"20 ms\"", &bottleneck))
    };
    let said = queue("99999999 TB");
    assert!(said.contains("`queue`: \"99999999 TB\" is too large\n"), "{said}");
    assert!(queue("9 furlongs").contains("GiB, packets, bdp, or a time"));
    assert!(queue("9").contains("packets, bdp, or a time"));
}

#[test]
fn the_error_of_a_graph_without_its_links_says_where_they_belong() {
    let text = "duration = \"1 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"graph\"\nfile = \"g\"\n\
                [[flow]]\nfrom = \"0\"\nto = \"1\"\n";
    let node = |id: usize| format!("<node id=\"{id}\"></node>");
    let edge = "<edge source=\"0\" target=\"1\"></edge>";
    let file = format!(
        "<graphml><graph edgedefault=\"undirected\">{}{}{edge}</graph></graphml>",
        node(0),
        node(1)
    );
    let said = crate::common::parse_with(text, &[("g", &file)]).expect_err("no rate").to_string();
    let table = "link = { rate = \"10 Mbit/s\", delay = \"20 ms\" }";
    assert_eq!(said.matches(&format!("for example {table}")).count(), 2, "{said}");
    let with = |table: &str| {
        let text = text.replace("[[flow]]", &format!("{table}\n[[flow]]"));
        crate::common::parse_with(&text, &[("g", &file)])
    };
    assert!(with(table).is_ok(), "the remedy is one");
    let said = with("link = {}").expect_err("no rate").to_string();
    assert!(said.contains("for example rate = \"10 Mbit/s\"\n"), "{said}");
}

#[test]
fn either_letter_is_a_micro() {
    for micro in ['\u{b5}', '\u{3bc}'] {
        let text = dumbbell(flow()).replace("\"20 ms\"", &format!("\"5 {micro}s\""));
        assert_eq!(setup(&text).network.links[0].delay, Duration::from_micros(5), "{micro}");
    }
}

#[test]
fn what_has_an_empty_name_cannot_be_called() {
    let traffic =
        "[[traffic]]\nname = \"\"\narrivals = { every = \"1 s\" }\nsizes = { fixed = \"1 KB\" }";
    let link =
        "[[link]]\nname = \"\"\nbetween = [\"s1\", \"d1\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 s\"";
    let one_way = link.replace("between = [\"s1\", \"d1\"]", "from = \"s1\"\nto = \"d1\"");
    let group = "[overlay]\nlinks = [[\"s1\", \"d1\"]]\n\
                 [[group]]\nname = \"\"\nsenders = [\"s1\"]\nreceivers = [\"d1\"]\n";
    let ensemble =
        "[[ensemble]]\nname = \"\"\npeer = \"s1\"\nswitch = \"r1\"\nmembers = [\"d1\"]\n";
    let flow = format!("{}name = \"\"", flow());
    for (more, what) in [
        (flow.as_str(), "a flow"),
        (link, "a link"),
        (&one_way, "a link"),
        (traffic, "a class of traffic"),
        (group, "a group"),
        (ensemble, "an ensemble"),
        ("[[node]]\nname = \"\"", "a node"),
        ("[variant.\"\"]\nlaw = \"xcp\"", "a variant"),
    ] {
        let said = refused(&dumbbell(more));
        assert!(said.contains(&format!("{what} needs a name")), "{what}: {said}");
        assert_eq!(said.matches("needs a name").count(), 1, "{said}");
    }
}

#[test]
fn what_is_new_is_not_called_by_a_pattern() {
    let link =
        "[[link]]\nname = \"x*\"\nbetween = [\"s1\", \"d1\"]\nrate = \"1 Mbit/s\"\ndelay = \"1 s\"";
    let one_way = link.replace("between = [\"s1\", \"d1\"]", "from = \"s1\"\nto = \"d1\"");
    for more in ["[[node]]\nname = \"x*\"", link, &one_way] {
        let said = refused(&dumbbell(&format!("{more}\n{}", flow())));
        assert!(said.contains("\"x*\" is a pattern and no name"), "{said}");
        assert!(said.contains("`*` stands for any text"), "{said}");
    }
    let change = "[[link]]\nname = \"*\"\ndelay = \"1 ms\"\n";
    scenario(&dumbbell(&format!("{change}{}", flow())));
}
