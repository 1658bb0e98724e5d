//! Options that an emulated run does not read are reported with their line.

use crate::common::{dumbbell, flow, scenario, shown};

/// In these tests an emulated run reads `alpha` and nothing else.
fn warnings(text: &str, law: &str) -> String {
    let scenario = scenario(text);
    let plan = scenario.plan(Some(law), None).unwrap();
    shown(&scenario.ignored_options(&plan, |_, option| option != "alpha"))
}

#[test]
fn ignored_options_are_of_the_laws_of_the_run_wherever_they_are_given() {
    let text = dumbbell(&format!(
        "[options.xcp]\nalpha = 0.3\npacing = false\n\
         [options.cubic]\nc = 0.5\n\
         [variant.heavy]\nlaw = \"xcp\"\nweight = 2\n\
         [variant.light]\nlaw = \"xcp\"\nweight = 0.5\n{}",
        flow()
    ));
    let said = warnings(&text, "heavy");
    assert!(said.contains("warning: an emulated run does not read `pacing` of xcp"), "{said}");
    assert!(
        said.contains("does not read `weight` of heavy") && said.contains("weight = 2"),
        "{said}"
    );
    assert!(said.contains("= help: its senders are the kernel's"), "{said}");
    assert_eq!(said.matches("-->").count(), 2, "{said}");
    assert_eq!(warnings(&text, "cubic").matches("-->").count(), 1);
    assert_eq!(warnings(&text, "newreno"), "");
}

#[test]
fn so_are_those_of_single_flows() {
    let own = format!("{}options = {{ weight = 2 }}", flow());
    assert!(warnings(&dumbbell(&own), "xcp").contains("does not read `weight` of xcp"));
    assert_eq!(warnings(&dumbbell(&own), "cubic"), "", "which has none of that name");
    let named = dumbbell(&format!("{}law = \"xcp\"\noptions = {{ weight = 2 }}", flow()));
    let said = warnings(&named, "cubic");
    assert!(said.contains("`weight` of xcp") && said.matches("-->").count() == 1, "{said}");
}
