//! What a law or a queue discipline does, as text.

use std::path::Path;

use ratewire_laws::LawSet;
use ratewire_laws::options::OptionSpec;
use ratewire_net::queue;
use ratewire_report::table;

use crate::results::error::unknown;

/// Explains the law or queue discipline of this name, and its options with their defaults and
/// ranges. The texts of options are wrapped at `width` characters.
///
/// # Errors
/// The message if there is none of this name, with the names that are known.
pub fn explain(laws: &LawSet, name: &str, width: usize) -> Result<String, String> {
    let (explanation, options): (&str, Vec<(&OptionSpec, String)>) =
        match (laws.find(name), queue::find(name)) {
            (Some(law), _) => {
                let options = law.options.iter().map(|option| (option, option.description()));
                (law.explanation, options.collect())
            }
            (None, Some(discipline)) => {
                let options = discipline.options.iter().map(|o| (o, o.doc.to_string()));
                (discipline.explanation, options.collect())
            }
            (None, None) => {
                let laws = ratewire_laws::list().iter().map(|law| law.name);
                let known: Vec<&str> =
                    laws.chain(queue::list().iter().map(|info| info.name)).collect();
                // Without a folder or an end, a name is not that of a file.
                let file = format!("./{name}.so");
                if Path::new(&file).is_file() {
                    return Err(format!(
                        "no law or discipline is called {name:?}\n  help: the law in the file here \
                         is {file}"
                    ));
                }
                return Err(unknown("law or discipline", name, &known));
            }
        };
    let mut text = format!("{}\n\nOptions\n", explanation.trim_end());
    if options.is_empty() {
        text += "\n  none\n";
    }
    for (option, doc) in &options {
        text += &format!("\n  {} = {}\n", option.name, quoted(option.default));
        let doc = match option.doc {
            "" => format!("{}.", option.kind),
            _ => format!("{}; {}.", doc.trim_end_matches('.'), option.kind),
        };
        text += &table::wrap(&doc, 6, width);
    }
    Ok(text)
}

/// A default as a scenario would write it.
fn quoted(default: &str) -> String {
    // `03` is a word: TOML's numbers have no leading zeros.
    let is_word = default
        .strip_prefix('0')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_number = default.parse::<f64>().is_ok() && !is_word;
    if is_number || matches!(default, "true" | "false") {
        default.to_string()
    } else {
        format!("{default:?}")
    }
}
