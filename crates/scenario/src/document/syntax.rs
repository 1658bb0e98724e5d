//! Causes of errors in a text that is not TOML, without the errors that follow from them.

use std::ops::Range;

use toml_parser::lexer::{Token, TokenKind};

use crate::diagnostic::{Diagnostic, Severity, Source, Span};
use crate::keys::{self, KeyKind};

use super::{Item, Table, Value};

/// Most errors that are explained.
const MOST: usize = 200;

/// Explains the parser's errors in the order of the text; `read` is the recovered table.
pub(super) fn explain(
    source: &Source,
    read: &Table,
    errors: &[toml::de::Error],
) -> Vec<Diagnostic> {
    let unclosed = unclosed(&source.text);
    // One cause may lead to many errors, and explaining each scans the whole text.
    let (listed, rest) = errors.split_at(errors.len().min(MOST));
    let mut all: Vec<Diagnostic> = unclosed
        .iter()
        .map(|one| {
            let message = format!("not TOML: {}", one.message);
            error(source, one.span.clone(), message, Some(one.help.to_string()))
        })
        .collect();
    for error_of_toml in listed {
        let span = error_of_toml.span().unwrap_or(0..0);
        if unclosed.iter().any(|one| one.spoils.contains(&span.start)) {
            continue;
        }
        match error_of_toml.message() {
            "duplicate key" => all.extend(duplicate(source, read, span)),
            message => all.push(error(source, span, format!("not TOML: {message}"), None)),
        }
    }
    all.sort_by_key(|diagnostic| diagnostic.span.start);
    all.dedup();
    if !rest.is_empty() {
        let message = format!("and {} more errors, too many to list", rest.len());
        all.push(Diagnostic { count: rest.len(), ..Diagnostic::general(&source.name, message) });
    }
    all
}

fn error(source: &Source, at: Range<usize>, message: String, help: Option<String>) -> Diagnostic {
    let span = Span { source: 0, start: at.start, end: at.end };
    Diagnostic { help, ..source.diagnostic(Severity::Error, span, message) }
}

/// A bracket or quote without its other half.
struct Unclosed {
    span: Range<usize>,
    message: &'static str,
    help: &'static str,
    /// Range in which the parser's errors follow from this one.
    spoils: Range<usize>,
}

/// Unclosed texts and brackets: each text that ends with its line, and the first that swallows the
/// rest.
fn unclosed(text: &str) -> Vec<Unclosed> {
    let mut found = Vec::new();
    let mut open: Vec<Token> = Vec::new();
    let (mut is_start, mut is_heading) = (true, false);
    for token in toml_parser::Source::new(text).lex() {
        let kind = token.kind();
        match kind {
            TokenKind::Whitespace | TokenKind::Comment => continue,
            TokenKind::Newline if open.is_empty() => {
                (is_start, is_heading) = (true, false);
                continue;
            }
            TokenKind::LeftSquareBracket if open.is_empty() && is_start => is_heading = true,
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket if !is_heading => {
                open.push(token);
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                let last = open.pop();
                if let Some(last) = last.filter(|last| closes(last.kind()) != kind) {
                    found.push(bracket(last));
                    return found;
                }
            }
            _ => {}
        }
        let span = token.span().start()..token.span().end();
        if let Some((message, help)) = quote(kind, &text[span.clone()]) {
            let line = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
            let ends = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at);
            let is_long = matches!(kind, TokenKind::MlBasicString | TokenKind::MlLiteralString);
            let swallows = is_long || (kind != TokenKind::Atom && !open.is_empty());
            let end = if swallows { usize::MAX } else { ends + 1 };
            found.push(Unclosed { span, message, help, spoils: line..end });
            if swallows || found.len() == MOST {
                return found;
            }
        }
        is_start = false;
    }
    found.extend(open.first().copied().map(bracket));
    found
}

fn closes(open: TokenKind) -> TokenKind {
    match open {
        TokenKind::LeftCurlyBracket => TokenKind::RightCurlyBracket,
        _ => TokenKind::RightSquareBracket,
    }
}

fn bracket(open: Token) -> Unclosed {
    let (message, help) = match open.kind() {
        TokenKind::LeftCurlyBracket => {
            ("the table that begins here is not closed", "it ends with `}`")
        }
        _ => ("the list that begins here is not closed", "it ends with `]`"),
    };
    let start = open.span().start();
    Unclosed { span: start..open.span().end(), message, help, spoils: start..usize::MAX }
}

/// Describes unbalanced quotes of a token, with the remedy.
fn quote(kind: TokenKind, token: &str) -> Option<(&'static str, &'static str)> {
    let (mark, help) = match kind {
        TokenKind::BasicString => ("\"", "it ends with `\"`, on the same line"),
        TokenKind::LiteralString => ("'", "it ends with `'`, on the same line"),
        TokenKind::MlBasicString => ("\"\"\"", "it ends with `\"\"\"`"),
        TokenKind::MlLiteralString => ("'''", "it ends with `'''`"),
        // After a missing closing quote, the text up to the next quote is outside quotes.
        TokenKind::Atom if token.contains('"') => {
            return Some(("a quote is missing before this", "a text begins and ends with `\"`"));
        }
        _ => return None,
    };
    (!is_closed(token, mark)).then_some(("the text that begins here is not closed", help))
}

fn is_closed(token: &str, mark: &str) -> bool {
    let Some(inside) = token[mark.len()..].strip_suffix(mark) else { return false };
    let escapes = inside.len() - inside.trim_end_matches('\\').len();
    mark.starts_with('\'') || escapes % 2 == 0
}

/// Diagnostics about a repeated key or heading at `span`.
fn duplicate(source: &Source, read: &Table, span: Range<usize>) -> Vec<Diagnostic> {
    let text = &source.text;
    let line_start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let name = text[span.clone()].trim_matches(['"', '\'']);
    let mut first = earlier(text, read, name, span.start);
    let all = headings(text);
    if let Some(this) = all.iter().find(|heading| heading.span.start >= line_start)
        && this.span.start <= span.start
    {
        let same = || all.iter().filter(|heading| heading.name == this.name);
        let is_list = keys::find("", this.name)
            .is_some_and(|key| matches!(key.kind, KeyKind::Tables(_)))
            || same().any(|heading| heading.is_list);
        let single: Vec<Diagnostic> = same()
            .filter(|heading| is_list && !heading.is_list)
            .map(|heading| {
                let message =
                    format!("`[{0}]` is a single table, but there are several", heading.name);
                let help = format!("a list of tables is written `[[{}]]`, each time", heading.name);
                error(source, heading.span.clone(), message, Some(help))
            })
            .collect();
        if !single.is_empty() {
            return single;
        }
        first = same().next().map(|heading| heading.span.start).filter(|at| *at < line_start);
    }
    let help = first.map(|at| {
        let line = text[..at].matches('\n').count() + 1;
        format!("it stands on line {line} already: leave one of them out")
    });
    vec![error(source, span, format!("not TOML: duplicate key `{name}`"), help)]
}

struct Heading<'t> {
    name: &'t str,
    is_list: bool,
    span: Range<usize>,
}

/// Lines that look like headings.
fn headings(text: &str) -> Vec<Heading<'_>> {
    let mut start = 0;
    let mut headings = Vec::new();
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let at = start + line.len() - trimmed.len();
        start += line.len();
        let is_list = trimmed.starts_with("[[");
        let brackets = if is_list { 2 } else { 1 };
        let Some(end) = trimmed.find(']').filter(|_| trimmed.starts_with('[')) else { continue };
        let name = trimmed[..end].trim_start_matches('[').trim();
        headings.push(Heading { name, is_list, span: at..at + end + brackets });
    }
    headings
}

/// Last place of the key `name` before `at`, in tables that are open there.
fn earlier(text: &str, table: &Table, name: &str, at: usize) -> Option<usize> {
    let own = table.get(name).map(|entry| entry.key_span.start).filter(|start| *start < at);
    let within = table.entries.iter().filter_map(|entry| within(text, &entry.item, name, at));
    within.chain(own).max()
}

fn within(text: &str, item: &Item, name: &str, at: usize) -> Option<usize> {
    match &item.value {
        Value::List(items) => items.iter().filter_map(|item| within(text, item, name, at)).max(),
        Value::Table(table) => {
            let ends_before = text[item.span.start..].starts_with('{') && item.span.end <= at;
            if ends_before { None } else { earlier(text, table, name, at) }
        }
        _ => None,
    }
}
