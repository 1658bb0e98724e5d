//! Values at the ends of their ranges, and texts with very many errors.

use ratewire_sim::traffic::arrivals;

use crate::common::{dumbbell, flow, parse_with, refused, scenario, setup};

fn two_pairs(more: &str) -> String {
    dumbbell(more).replace("\"dumbbell\"", "\"dumbbell\"\npairs = 2")
}

#[test]
fn weights_of_any_size_share_as_they_say() {
    let counts = |weights: [&str; 2]| {
        let [a, b] = weights;
        let traffic = format!(
            "[[traffic]]\narrivals = {{ every = \"1 ms\" }}\nsizes = {{ fixed = \"1 KB\" }}\n\
             between = [[\"s1\", \"d1\", {a}], [\"s2\", \"d2\", {b}]]"
        );
        let setup = setup(&two_pairs(&traffic));
        let first = setup.traffic[0].pairs[0].0;
        let flows = arrivals(&setup, 1000);
        (flows.iter().filter(|(flow, _)| flow.from == first).count(), flows.len())
    };
    let (even, all) = counts(["1", "1"]);
    assert!((450..550).contains(&even) && all == 1000, "{even} of {all}");
    for weights in [["1e308", "1e308"], ["1e-320", "1e-320"], ["7.5e300", "7.5e300"]] {
        assert_eq!(counts(weights), (even, all), "{weights:?}");
    }
    assert_eq!(counts(["1.7e308", "1e-300"]), (1000, 1000));
    let weighted = |routing: &str| {
        format!(
            "[[ensemble]]\nname = \"e\"\npeer = \"s1\"\nswitch = \"r2\"\n\
             members = [\"d1\", \"d2\"]\nrouting = {{ weighted = {routing} }}\n"
        )
    };
    scenario(&two_pairs(&weighted("[1e308, 1e308]")));
    assert!(refused(&two_pairs(&weighted("[1, inf]"))).contains("`weighted` needs a number"));
}

#[test]
fn a_seed_may_be_the_greatest_there_is() {
    let with = |seed: &str| format!("seed = {seed}\n{}", dumbbell(flow()));
    assert_eq!(setup(&with("18446744073709551615")).seed, u64::MAX);
    let said = refused(&with("18446744073709551616"));
    assert!(said.contains("which is not from -2^63 to 2^64 - 1"), "{said}");
    assert!(refused(&with("-1")).contains("`seed` cannot be the number -1"));
}

#[test]
fn an_application_that_would_write_for_ever_is_refused() {
    let app = |app: &str| dumbbell(&format!("{}app = {{ {app} }}", flow()));
    let said = refused(&app("constant = { rate = \"1000 Tbit/s\" }"));
    assert!(said.contains("it would write about ") && said.contains("a lower rate"), "{said}");
    let on_off = |pause: &str, more: &str| {
        app(&format!("on_off = {{ burst = \"1 B\", pause = \"{pause}\"{more} }}"))
    };
    let written = ", pause_after = \"written\"";
    let said = refused(&on_off("1 ps", written));
    assert!(said.contains("it would write about ") && said.contains("pause for longer"), "{said}");
    // Few writes take no time, and writers of the other kinds wait for the network.
    scenario(&on_off("1 ps", &format!("{written}, count = 3")));
    scenario(&on_off("1 ps", ""));
    scenario(&on_off("1 us", written));
    scenario(&app("constant = { rate = \"1 Gbit/s\" }"));
}

fn overlay(receivers: &str, more: &str) -> String {
    dumbbell(&format!(
        "[overlay]\nlinks = [[\"s1\", \"d1\"]]\n{more}\n\
         [[group]]\nname = \"g\"\nsenders = [\"s1\"]\nreceivers = {receivers}\n"
    ))
}

#[test]
fn nodes_that_would_send_their_prices_for_ever_are_refused() {
    scenario(&overlay("[\"d1\"]", ""));
    let said = refused(&overlay("[\"d1\"]", "interval = \"1 ps\""));
    assert!(
        said.contains("each node would announce its prices ") && said.contains("allowed"),
        "{said}"
    );
}

#[test]
fn too_many_receivers_are_the_only_error() {
    let said = refused(&overlay("[[\"d1\", 1000000000]]", ""));
    assert!(said.starts_with("error: more than ") && said.contains("allowed: up to"), "{said}");
    assert_eq!(said.matches("error:").count(), 1, "{said}");
}

#[test]
fn a_distribution_of_nothing_is_refused() {
    let traffic = "[[traffic]]\narrivals = { every = \"1 s\" }\nsizes = { cdf = \"c\" }\n";
    let read = |cdf: &str| parse_with(&dumbbell(traffic), &[("c", cdf)]);
    let said = read("0 0\n0 1\n").expect_err("no size").to_string();
    assert!(said.contains("flows of size 0 only"), "{said}");
    assert!(read("0 0\n1 1\n").is_ok());
}

/// Errors do not reveal files that others must not read.
#[test]
fn files_that_are_something_else_are_not_shown() {
    let secret = "root:$y$j9T$abc:19000:0:99999:7:::\nsecret words here\n";
    for more in [
        "[[traffic]]\narrivals = { every = \"1 s\" }\nsizes = { cdf = \"f\" }\n",
        "[[traffic]]\narrivals = { file = \"f\" }\n",
        "[[link]]\nname = \"bottleneck\"\ntrace = { mahimahi = \"f\" }\n",
    ] {
        let said =
            parse_with(&dumbbell(more), &[("f", secret)]).expect_err("no such file").to_string();
        assert!(!said.contains("root") && !said.contains("secret"), "{said}");
    }
    let graph =
        "duration = \"1 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"graph\"\nfile = \"f\"\n";
    let said = parse_with(graph, &[("f", secret)]).expect_err("no topology").to_string();
    assert!(said.contains("text that is no topology") && !said.contains("root"), "{said}");
}

/// Explaining one error scans the whole text, so 20,000 would take seconds.
#[test]
fn of_very_many_errors_of_syntax_some_are_explained() {
    let twice: String = (0..20_000).map(|n| format!("k{n} = 1\nk{n} = 2\n")).collect();
    let wrong = parse_with(&twice, &[]).expect_err("no TOML");
    assert_eq!(wrong.diagnostics.len(), 201);
    assert_eq!(wrong.diagnostics[200].message, "and 19800 more errors, too many to list");
    assert_eq!(wrong.diagnostics.iter().map(|one| one.count).sum::<usize>(), 20_000);
    let quotes = "a\"\n".repeat(20_000);
    assert!(parse_with(&quotes, &[]).expect_err("no TOML").diagnostics.len() <= 401);
}
