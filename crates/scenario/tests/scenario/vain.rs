//! Expectations without a target, or that decide nothing, are reported.

use crate::common::{dumbbell, flow, refused, scenario, shown, warned};

#[test]
fn expectations_that_decide_nothing_are_reported() {
    let expect = |metric: &str, link: &str, bound: &str| {
        let more = format!("{}[[expect]]\nmetric = \"{metric}\"\n{link}{bound}\n", flow());
        warned(&dumbbell(&more))
    };
    let link = "link = \"bottleneck\"\n";
    for (metric, link, bound) in [
        ("utilisation", link, "min = 0"),
        ("utilisation", link, "max = 1.5"),
        ("utilisation", link, "equals = 0.5\ntolerance = 0.5"),
        ("drops", "", "min = 0"),
        ("jain", "", "max = 1"),
    ] {
        let said = expect(metric, link, bound);
        assert!(
            said.contains(&format!("this expectation of {metric} cannot fail")),
            "{bound}: {said}"
        );
    }
    let said = expect("utilisation", link, "min = 1.1");
    assert!(said.contains("this expectation of utilisation cannot hold"), "{said}");
    assert!(said.contains("it is from 0 to 1"), "{said}");
    for (metric, link, bound) in [
        ("utilisation", link, "min = 0.01"),
        ("utilisation", link, "max = 0.99"),
        ("drops", "", "max = 0"),
        ("goodput", "", "min = \"1 bit/s\""),
    ] {
        assert_eq!(expect(metric, link, bound), "", "{metric} {bound}");
    }
}

#[test]
fn a_bound_for_emulated_runs_of_what_none_measures_is_reported() {
    let link = "link = \"bottleneck\"\n";
    for (more, is_vain) in [("flow = \"s1->d1\"\n", true), ("", false)] {
        let expect = format!(
            "{}[[expect]]\nmetric = \"throughput\"\n{link}{more}min = \"1 Mbit/s\"\n\
             emulated = {{ min = \"0.5 Mbit/s\", basis = \"run\", cause = \"why\" }}\n",
            flow()
        );
        let said = warned(&dumbbell(&expect));
        assert_eq!(said.contains("no emulated run measures this"), is_vain, "{said}");
    }
}

#[test]
fn metrics_that_have_one_value_whatever_happens_are_reported() {
    let police = ("delay = \"20 ms\" }", "delay = \"20 ms\", police = true }");
    let pause = ("delay = \"20 ms\" }", "delay = \"20 ms\", pause = true }");
    let expect = |(from, to): (&str, &str), more: &str| {
        let two = format!("{}start = \"4 s\"\n{}start = \"5 s\"\n", flow(), flow());
        let text = dumbbell(&format!("{two}[[expect]]\n{more}\n"));
        let read = crate::common::parse_with(&text.replace(from, to), &[("r.csv", "t\n10,1,1\n")]);
        read.map_or_else(|wrong| wrong.to_string(), |scenario| shown(&scenario.warnings))
    };
    let bottleneck = "link = \"bottleneck\"";
    let reference =
        "metric = \"reference_error\"\nfile = \"r.csv\"\ncapacity = \"1 Mbit/s\"\nmax = 0.1";
    let window = ("[topology]", "[transport]\nreceive_window = \"64 KB\"\n[topology]");
    for (vain, why, other, more) in [
        ("metric = \"pauses\"\nmax = 0", "pauses is always 0", pause, ""),
        (&format!("metric = \"paused\"\nmax = 0.1\n{bottleneck}"), "paused is always 0", pause, ""),
        ("metric = \"overflows\"\nmax = 0", "overflows is always 0", pause, ""),
        ("metric = \"deadlock\"\nmax = 0", "deadlock is always 0", pause, ""),
        ("metric = \"clamps\"\nmax = 0", "clamps is always 0", police, ""),
        ("metric = \"refused\"\nmax = 0", "refused is always 0", window, ""),
        ("metric = \"share\"\nmin = 0.9", "share is always 1", ("", ""), "flow = \"s1->d1\""),
        ("metric = \"ratio\"\nmin = 0.9", "ratio is always 1", ("", ""), "flow = \"s1->d1\""),
        (
            "metric = \"convergence_time\"\nmax = \"1 s\"\nduring = \"5 s .. 7 s\"\naverage = \"3 s\"",
            "an average over 3 s is longer than what is measured",
            ("3 s", "1 s"),
            "",
        ),
        (
            &format!("{reference}\nskip = \"5 s\"\nduring = \"4 s .. 9 s\""),
            "to skip 5 s after each start leaves nothing to measure",
            ("4 s .. 9 s", "3.9 s .. 9 s"),
            "",
        ),
        (
            &format!("{reference}\nskip = \"1 s\"\nduring = \"4 s .. 6 s\""),
            "to skip 1 s after each start leaves nothing to measure",
            ("4 s .. 6 s", "4 s .. 6.1 s"),
            "",
        ),
        (
            "metric = \"goodput\"\nmin = \"1 Mbit/s\"\nduring = \"1 s .. 4 s\"",
            "this ends before any of these flows starts",
            ("4 s\"\n\n", "5 s\"\n"),
            "",
        ),
    ] {
        let said = expect(("", ""), vain);
        assert!(said.starts_with("warning: ") && said.contains(why), "{vain}: {said}");
        assert_eq!(said.matches("-->").count(), 1, "{said}");
        assert_eq!(expect(other, &format!("{vain}\n{more}")), "", "{vain}");
    }
    let jain = |flow: &str| expect(("", ""), &format!("metric = \"jain\"\nmin = 0.9\n{flow}"));
    assert!(jain("flow = \"s1->d1\"").contains("jain is always 1"));
    assert_eq!(jain(""), "");
    let early = jain("flow = \"s1->d1\"\nduring = \"1 s .. 2 s\"");
    assert!(early.contains("this ends before any of these flows starts"), "{early}");
    assert_eq!(early.matches("warning: ").count(), 1, "nor is it 1 then: {early}");
}

#[test]
fn expectations_of_nothing_are_refused() {
    let refuses = |network: &str, expect: &str, key: &str| {
        let said = refused(&dumbbell(&format!("{network}[[expect]]\n{expect}\n{key} = []\n")));
        assert!(said.contains(&format!("`{key}` of [[expect]] 1 names nothing")), "{key}: {said}");
        assert_eq!(said.matches("error: ").count(), 1, "{key}: {said}");
    };
    refuses(flow(), "metric = \"goodput\"\nmin = \"1 Mbit/s\"", "flow");
    refuses(flow(), "metric = \"ratio\"\nmin = 1", "of");
    refuses(flow(), "metric = \"drops\"\nmax = 0", "laws");
    let overlay = "[overlay]\nlinks = [[\"s1\", \"d1\"]]\n\
                   [[group]]\nname = \"g\"\nsenders = [\"s1\"]\nreceivers = [\"d1\"]\n";
    refuses(overlay, "metric = \"sent\"\nmin = \"1 Mbit/s\"", "group");
}

#[test]
fn a_time_that_is_no_multiple_of_the_interval_does_not_look_like_one() {
    let during = "[[expect]]\nmetric = \"drops\"\nmax = 0\nduring = \"0.3 s .. 1.7001 s\"\n";
    let said = refused(&dumbbell(&format!("{}{during}", flow())));
    assert!(said.contains("1.7001 s is not 10 ms times a whole number"), "{said}");
}

/// An expectation beyond a shortened run is left out: it says nothing about other times.
#[test]
fn expectations_beyond_a_duration_from_the_command_line_are_left_out() {
    let expect = "[[expect]]\nmetric = \"utilisation\"\nlink = \"bottleneck\"\nmin = 0.5\n";
    let text = dumbbell(&format!(
        "{}{expect}during = \"1 s .. 4 s\"\n{expect}during = \"2 s .. 9 s\"\n{expect}",
        flow()
    ));
    let set = |duration: &str| {
        let set = [("duration".to_string(), duration.to_string())];
        scenario(&text).with_overrides(&set).unwrap_or_else(|all| panic!("{all}"))
    };
    let shorter = set("5s");
    let said = shown(&shorter.warnings);
    assert!(said.contains("warning: left out: at 9 s the run has ended"), "{said}");
    assert!(said.contains("`duration` was set to 5 s") && said.matches("-->").count() == 1);
    assert_eq!(shorter.expectations.len(), 2);
    assert_eq!((set("9s").expectations.len(), set("9s").warnings.len()), (3, 0));
    // In the file it is an error.
    let said = refused(&text.replace("10 s", "5 s"));
    assert!(said.contains("error: at 9 s the run has ended"), "{said}");
}
