//! The program in `examples/`.

use std::process::Command;

use ratewire_testing::{err, example, out};

#[test]
fn words_find_their_volumes() {
    let done = Command::new(example("ensemble")).output().unwrap();
    assert!(done.status.success(), "{}", err(&done));
    let mut lines: Vec<String> = out(&done).lines().map(str::to_string).collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "delay: volume a-i",
            "queue: volume j-r",
            "rate: volume j-r",
            "window: volume s-z",
            "wire: volume s-z",
        ]
    );
}
