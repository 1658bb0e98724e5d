//! The command line of a run, for a shell.

/// `ratewire run` with the values and, if there are any, the laws. Each word is quoted where a
/// shell would change it.
pub(crate) fn command_line(scenario: &str, values: &[(String, String)], laws: &[String]) -> String {
    // A name that begins as an option does.
    let scenario =
        if scenario.starts_with('-') { format!("./{scenario}") } else { scenario.to_string() };
    let mut line = format!("ratewire run {}", quoted(&scenario));
    for (path, value) in values {
        line += &format!(" --set {}", quoted(&format!("{path}={value}")));
    }
    if !laws.is_empty() {
        line += &format!(" --law {}", quoted(&laws.join(",")));
    }
    line
}

/// A word as a POSIX shell takes it unchanged.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn plain_words_need_no_quotes() {
        let set = [("bottleneck.rate".to_string(), "10 Mbit/s".to_string())];
        let laws = ["xcp".to_string(), "xcp@kernel".to_string()];
        assert_eq!(
            command_line("a/three-flows.toml", &set, &laws),
            "ratewire run a/three-flows.toml --set 'bottleneck.rate=10 Mbit/s' --law xcp,xcp@kernel"
        );
        assert_eq!(command_line("-x.toml", &[], &[]), "ratewire run ./-x.toml");
    }

    #[test]
    fn a_shell_hands_on_every_word_unchanged() {
        let odd =
            ["a b", "it's", "$HOME", "`id`", "\"", "\\", "*", "a\nb", "~", "#x", "&;|<>(){}!", "é"];
        let set: Vec<(String, String)> =
            odd.iter().map(|odd| ("link.*.x".to_string(), odd.to_string())).collect();
        let line = command_line("it's.toml", &set, &[]);
        let words = line.strip_prefix("ratewire run ").expect("the command");
        let said = Command::new("sh").args(["-c", &format!("printf '%s\\0' {words}")]).output();
        let said = String::from_utf8(said.expect("a shell").stdout).expect("UTF-8");
        let words: Vec<&str> = said.trim_end_matches('\0').split('\0').collect();
        let wanted = odd.iter().flat_map(|odd| ["--set".to_string(), format!("link.*.x={odd}")]);
        assert_eq!(words, ["it's.toml".to_string()].into_iter().chain(wanted).collect::<Vec<_>>());
    }
}
