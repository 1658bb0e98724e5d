//! JSON with the name and version of the program that wrote it.

use serde::Serialize;

/// The beginning of every JSON file that Ratewire writes; the version follows.
pub const JSON_HEAD: &str = "{\n  \"generator\": \"ratewire ";

#[derive(Serialize)]
struct Generated<'a, T> {
    generator: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

/// Writes a structure as indented JSON, with `generator` as its first key ([`JSON_HEAD`]).
pub fn json(content: &impl Serialize) -> String {
    let generator = concat!("ratewire ", env!("CARGO_PKG_VERSION"));
    let text = serde_json::to_string_pretty(&Generated { generator, content });
    // All keys of a report's structures are text, so none of them fails to serialise.
    text.unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_comes_first() {
        #[derive(Serialize)]
        struct Two {
            b: u8,
            a: f64,
        }
        let text = json(&Two { b: 1, a: 0.5 });
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(text, format!("{JSON_HEAD}{version}\",\n  \"b\": 1,\n  \"a\": 0.5\n}}\n"));
    }
}
