//! Lies and policers without effect under the laws of a run.

use crate::common::{dumbbell, scenario, shown};

#[test]
fn lies_that_no_header_carries_and_idle_policers_are_warned_of() {
    let flow = "[[flow]]\nfrom = \"s1\"\nto = \"d1\"\n";
    let lying = scenario(&dumbbell(&format!("{flow}lie = {{ rtt = 2, inflate = 3 }}")));
    assert!(lying.plan(Some("xcp"), None).unwrap().warnings.is_empty());
    let warnings = shown(&lying.plan(Some("maxnet"), None).unwrap().warnings);
    assert!(
        warnings.contains("lies about `rtt`, which headers of maxnet do not carry"),
        "{warnings}"
    );
    assert!(!warnings.contains("`inflate`"), "{warnings}");
    assert!(
        warnings.contains("lies that have an effect under maxnet: ignore_feedback, inflate"),
        "{warnings}"
    );
    let warnings = shown(&lying.plan(Some("cubic"), None).unwrap().warnings);
    assert!(warnings.contains("under cubic no lie has an effect"), "{warnings}");

    let policed = |flow: &str| {
        scenario(&dumbbell(flow).replace("bottleneck = {", "bottleneck = { police = true,"))
    };
    for law in ["xcp", "rcp", "piqi-rcp", "jetmax", "emkc", "maxnet"] {
        assert!(policed(flow).plan(Some(law), None).unwrap().warnings.is_empty(), "{law}");
    }
    for law in ["hpcc", "abc", "cubic"] {
        let warnings = shown(&policed(flow).plan(Some(law), None).unwrap().warnings);
        let cannot = format!("is policed, but {law} cannot be: ");
        assert_eq!(warnings.matches(&cannot).count(), 1, "{warnings}");
    }
    let heavy = policed(&format!("{flow}options = {{ weight = 2 }}"));
    let warnings = shown(&heavy.plan(Some("xcp"), None).unwrap().warnings);
    assert!(warnings.contains("a policer takes a `weight` above 1 for a lie"), "{warnings}");
    // Under another law the weight is left out.
    let warnings = shown(&heavy.plan(Some("rcp"), None).unwrap().warnings);
    assert!(!warnings.contains("policer"), "{warnings}");
}
