//! What is said of links and does nothing, or not what it says, is told.

mod common;

use common::{refused, warned};

/// A dumbbell of one pair whose bottleneck has these further properties, and these further lines.
fn dumbbell(bottleneck: &str, more: &str) -> String {
    format!(
        "duration = \"2 s\"\nlaw = \"newreno\"\n[topology]\nkind = \"dumbbell\"\n\
         bottleneck = {{ rate = \"10 Mbit/s\", delay = \"10 ms\", {bottleneck} }}\n{more}\n\
         [[flow]]\nfrom = \"s1\"\nto = \"d1\"\n"
    )
}

#[test]
fn a_pattern_of_both_directions_has_no_reverse() {
    let change = |name: &str, more: &str| {
        let link = format!("[[link]]\nname = \"{name}\"\ndelay = \"5 ms\"\n{more}");
        dumbbell("", &link)
    };
    let reverse = "reverse = { delay = \"6 ms\" }";
    for pattern in ["bottleneck*", "*"] {
        let said = refused(&change(pattern, reverse));
        let wanted = format!("\"{pattern}\" matches both directions of \"bottleneck\"");
        assert!(said.contains(&wanted), "{said}");
        assert_eq!(warned(&change(pattern, "")), "");
    }
    for one_way in ["bottleneck", "*->r1", "bottleneck.*"] {
        assert_eq!(warned(&change(one_way, reverse)), "", "{one_way}");
    }
}
