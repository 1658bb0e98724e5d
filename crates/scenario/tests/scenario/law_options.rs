//! Options of laws have an effect where they are given, and do not contradict each other.

use crate::common::{dumbbell, flow, refused, scenario, shown, warned};

#[test]
fn options_of_ports_are_refused_where_there_are_only_hosts() {
    let messages = |law: &str, options: &str, table: &str| {
        let text = dumbbell(&format!("{table}law = \"{law}\"\noptions = {{ {options} }}\n"));
        let text = text.replace("law = \"\"\n", "");
        crate::common::parse(&text)
            .map_or_else(|wrong| wrong.to_string(), |scenario| shown(&scenario.warnings))
    };
    for (law, options) in [("xcp", "alpha = 0.1"), ("", "gamma = 9"), ("", "mu = 0.9")] {
        let said = messages(law, options, flow());
        let option = &options[..options.find(' ').expect("one")];
        assert!(said.contains(&format!("`{option}` is an option of ports")), "{law}: {said}");
        assert_eq!(said.matches("error: ").count(), 1, "{said}");
    }
    let overlay = "[[group]]\nname = \"g\"\nsenders = [\"s1\"]\nreceivers = [\"d1\"]\n\
                   [overlay]\nlinks = [[\"s1\", \"d1\"]]\n";
    assert!(messages("rcp", "beta = 0.3", overlay).contains("`beta` is an option of ports"));
    // In emkc the option belongs to the source; in JetMax it belongs to source and port.
    for (law, options) in [("emkc", "alpha = \"9 kbit/s\""), ("jetmax", "switch_margin = 0.1")] {
        assert!(!messages(law, options, flow()).contains("is an option of ports"), "{law}");
    }
}

/// `--law` may name a law whose senders read the option.
#[test]
fn options_of_ports_in_some_laws_only_are_warned_of_where_any_may_run() {
    let soft = "[variant.v]\nlaw = \"xcp\"\nflow_control = \"soft\"\n";
    for (before, law, key, value, other) in [
        ("", "xcp", "beta", "0.6", "cubic"),
        ("", "abc", "eta", "0.9", "hpcc"),
        (soft, "xcp", "min_interval", "\"9 ms\"", "v"),
    ] {
        let of_run = |own: &str| {
            let text = with("", own, &format!("{key} = {value}"));
            text.replacen("\"xcp\"", &format!("\"{law}\""), 1) + before
        };
        let said = warned(&of_run(""));
        let warning = format!("under {law} `{key}` does nothing here: it is an option of ports");
        assert!(said.contains(&format!("warning: {warning}\n")), "{said}");
        assert_eq!(said.matches("warning: ").count(), 1, "{said}");
        let laws = scenario(&of_run("")).setup(Some(other), None).expect("a setup").laws;
        assert_ne!(format!("{:?}", laws[0]), format!("{:?}", laws[1]), "the flow's own");
        let said = refused(&of_run(&format!("law = \"{law}\"")));
        assert!(said.contains(&format!("`{key}` is an option of ports")), "{said}");
    }
    assert!(refused(&with("", "", "min_interval = \"9 ms\"")).contains("is an option of ports"));
    let run = |laws: &str| warned(&with("", "", "beta = 0.6").replacen("\"xcp\"", laws, 1));
    let said = run("[\"xcp\", \"hpcc\", \"rcp\"]");
    assert!(said.contains("under xcp, rcp `beta` does nothing here"), "{said}");
    assert_eq!(run("[\"xcp\", \"cubic\", \"rcp\"]"), "", "cubic's senders read it");
}

#[test]
fn options_that_sinks_read_with_soft_flow_control_are_refused_without() {
    let soft = "flow_control = \"soft\"";
    let table = format!("[options.xcp]\n{soft}\n");
    let variant = format!("[variant.v]\nlaw = \"xcp\"\n{soft}\n");
    for (before, law, more, is_read) in [
        ("", "law = \"xcp\"", soft, true),
        ("", "", soft, true),
        (table.as_str(), "", "", true),
        (table.as_str(), "law = \"xcp\"", "", true),
        (variant.as_str(), "law = \"v\"", "", true),
        ("", "law = \"xcp\"", "", false),
        (variant.as_str(), "law = \"xcp\"", "", false),
        (table.as_str(), "law = \"xcp\"", "flow_control = \"credit\"", false),
    ] {
        for option in ["alpha = 0.1", "beta = 0.1", "min_interval = \"9 ms\"", "gamma = 0.2"] {
            let comma = if more.is_empty() { "" } else { ", " };
            let options = format!("{law}\noptions = {{ {option}{comma}{more} }}\n");
            let text = dumbbell(&format!("{before}{}{options}", flow()));
            let refused = crate::common::parse(&text)
                .err()
                .map(|wrong| wrong.to_string())
                .unwrap_or_default();
            let says = refused.contains("is an option of ports");
            assert_eq!(says, !is_read || option.starts_with("gamma"), "{options}: {refused}");
            assert!(refused.is_empty() || says, "{refused}");
        }
    }
}

/// A scenario with further tables, and a flow with options of its own.
fn with(tables: &str, law: &str, options: &str) -> String {
    dumbbell(&format!("{tables}\n{}{law}\noptions = {{ {options} }}\n", flow()))
}

#[test]
fn options_that_fit_only_together_are_taken() {
    let soft = "flow_control = \"soft\"";
    let table = format!("[options.xcp]\n{soft}\nsoft_high = 0.95\n");
    let low = "[options.xcp]\nsoft_low = 0.1\nsoft_high = 0.3\n";
    let variant = "[variant.v]\nlaw = \"xcp\"\nsoft_low = 0.9\n";
    let both = format!("{table}{variant}");
    let high = "[variant.v]\nlaw = \"xcp\"\nsoft_high = 0.95\n";
    for law in ["", "law = \"xcp\""] {
        scenario(&with("", law, &format!("{soft}, soft_low = 0.9, soft_high = 0.95")));
        scenario(&with("", law, &format!("soft_high = 0.3, {soft}, soft_low = 0.2")));
        scenario(&with(&table, law, "soft_low = 0.9"));
        scenario(&with(low, law, "soft_low = 0.3"));
    }
    scenario(&with(&both, "law = \"v\"", "soft_high = 0.9"));
    scenario(&with(&table.replace("0.95", "0.5"), "", "soft_low = 0.4"));
    scenario(&with(high, "law = \"v\"", "soft_low = 0.9"));
}

#[test]
fn options_that_do_not_fit_together_are_reported_where_one_of_them_is() {
    let refused_at = |text: &str, at: &str, help: &str| {
        let said = refused(text);
        assert_eq!(said.matches("error: ").count(), 1, "{said}");
        assert!(said.contains("option \"soft_high\": must not be below soft_low"), "{said}");
        let marked = said.lines().filter_map(|line| Some(line.split_once("| ")?.1));
        assert_eq!(marked.collect::<Vec<_>>().join("\n"), at, "{said}");
        assert!(said.contains(&format!("help: {help}")), "{said}");
    };
    let table = "[options.xcp]\nsoft_low = 0.1\nsoft_high = 0.2\n";
    let variant = "[variant.v]\nlaw = \"xcp\"\nsoft_low = 0.9\n";
    let mark = |line: &str, key: &str| {
        let column = line.find(key).expect("the key");
        format!("{line}\n{}{}", " ".repeat(column), "^".repeat(key.len()))
    };
    let own = |options: &str, key: &str| mark(&format!("options = {{ {options} }}"), key);
    let low = "soft_low = 0.9";
    refused_at(&with("", "", low), &own(low, "soft_low"), "`soft_high` is 0.5");
    refused_at(&with(table, "law = \"xcp\"", low), &own(low, "soft_low"), "`soft_high` is 0.2");
    let high = "soft_probe = 3, soft_high = 0.15, soft_low = 0.2";
    refused_at(&with(table, "", high), &own(high, "soft_high"), "`soft_low` is 0.2");
    refused_at(
        &with(&format!("{table}{variant}"), "", "soft_probe = 3"),
        &mark("soft_low = 0.9", "soft_low"),
        "`soft_high` is 0.2",
    );
    refused_at(
        &with(&table.replace("0.1", "0.3"), "law = \"xcp\"", "soft_low = 0.1"),
        &mark("soft_high = 0.2", "soft_high"),
        "`soft_low` is 0.3",
    );
    // With several laws the error names the first law under which it occurs.
    let fits = "[variant.v]\nlaw = \"xcp\"\nsoft_high = 0.95\n";
    let several = with(&format!("{fits}[variant.w]\nlaw = \"xcp\"\n"), "", low);
    let several = several.replacen("law = \"xcp\"", "law = [\"v\", \"w\", \"xcp\"]", 1);
    refused_at(&several, &own(low, "soft_low"), "`soft_high` is 0.5");
    scenario(&several.replacen("[\"v\", \"w\", \"xcp\"]", "\"v\"", 1));
}

#[test]
fn one_wrong_value_is_one_error() {
    for (options, message) in [
        ("flow_control = \"sotf\", alpha = 0.1", "\"sotf\""),
        // Only other laws have the option, and `--law` may name one of them.
        ("eta = [1]", "option `eta` cannot be a list"),
    ] {
        let said = refused(&with("", "", options));
        assert!(said.contains(message) && said.matches("error: ").count() == 1, "{said}");
    }
}
