//! Users that a scenario names for its programs.

use crate::common::{dumbbell, scenario, shown};

#[test]
fn users_are_held_against_what_is_allowed_with_their_lines() {
    let text = dumbbell(
        "[[program]]\nhost = \"d1\"\nrun = \"true\"\n\
         [[program]]\nhost = \"d1\"\nrun = \"true\"\nuser = \"alice\"\n\
         [[flow]]\nfrom = \"s1\"\nto = \"d1\"\nrun = \"true\"\nroot = true\n\
         [[program]]\nhost = \"d1\"\nrun = \"true\"\nroot = false\nuser = \"bob\"\n",
    );
    let scenario = scenario(&text);
    let users: Vec<_> = scenario.plan(None, None).unwrap().setup.programs;
    let users: Vec<_> = users.iter().map(|program| program.user.as_deref()).collect();
    assert_eq!(users, [None, Some("alice"), Some("bob"), Some("root")]);
    let refuse = |name: &str| {
        (name != "bob").then(|| (format!("{name} is not allowed"), "allow it".to_string()))
    };
    let said = shown(&scenario.refused_users(refuse));
    assert!(said.contains("error: alice is not allowed"), "{said}");
    assert!(said.contains("user = \"alice\"\n") && said.contains("root = true\n"), "{said}");
    assert!(said.contains("error: root is not allowed"), "{said}");
    assert_eq!(said.matches("= help: allow it").count(), 2, "{said}");
    assert!(scenario.refused_users(|_| None).is_empty());
}
