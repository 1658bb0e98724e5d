//! Pages of the book that `ratewire generate` (hidden) makes of registries.

use ratewire_command_line::generate::Page;
use ratewire_laws::OptionSpec;

/// Pages of the book that registries yield.
pub(crate) fn pages() -> Vec<Page> {
    vec![("laws.md", laws()), ("disciplines.md", disciplines())]
}

/// Every law's explanation and options, as a part of a page of the book.
fn laws() -> String {
    let all = ratewire_laws::list().iter();
    all.map(|info| section(info.name, info.explanation, info.options)).collect()
}

/// Every queue discipline's explanation and options, as a part of a page of the book.
fn disciplines() -> String {
    let all = ratewire_net::queue::list().iter();
    all.map(|info| section(info.name, info.explanation, info.options)).collect()
}

/// One entry of a registry. Explanations are Markdown: equations are indented by four columns.
fn section(name: &str, explanation: &str, options: &[OptionSpec]) -> String {
    let mut text = format!("## `{name}`\n\n{}\n\n", explanation.trim_end());
    if options.is_empty() {
        return text + "No options.\n\n";
    }
    text += "| option | allowed | default | what it does |\n|---|---|---|---|\n";
    for option in options {
        let cells = [option.kind.to_string(), option.default.to_string(), option.description()];
        let [kind, default, does] = cells.map(|cell| cell.replace('|', "\\|"));
        text += &format!("| `{}` | {kind} | `{default}` | {does} |\n", option.name);
    }
    text.push('\n');
    text
}
