//! `[probe]`: questions to members.

use ratewire_config::Section;
use ratewire_units::Duration;

const KEYS: &[&str] = &[
    "answer",
    "answer-hex",
    "deadline",
    "failures",
    "frame",
    "frame-hex",
    "interval",
    "successes",
];
/// Longest question, and longest begin of an answer, in bytes.
const LONGEST: usize = 1000;

/// Questions to members, which they must answer to be up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeConfig {
    /// Content of the frame that is sent.
    pub frame: Vec<u8>,
    /// What the answer must begin with; empty for any answer.
    pub answer: Vec<u8>,
    /// Time between two questions to a member.
    pub interval: Duration,
    /// Time for the answer.
    pub deadline: Duration,
    /// Questions in a row without a right answer, after which a member is down.
    pub failures: u32,
    /// Right answers in a row, after which it is up again.
    pub successes: u32,
}

pub(super) fn read(root: &Section<'_>) -> Option<ProbeConfig> {
    let table = root.table("[probe]", KEYS)?;
    let frame = bytes(&table, "frame", "frame-hex");
    if frame.is_none() && !table.has("frame") && !table.has("frame-hex") {
        table.missing("frame", "write the frame to send, as text or with `frame-hex`");
    }
    let time = |key, usual| {
        table.quantity(key, usual, Duration::from_millis(10)..=Duration::from_secs(3600))
    };
    Some(ProbeConfig {
        interval: time("interval", Duration::from_secs(1)),
        deadline: time("deadline", Duration::from_secs(1)),
        failures: table.count("failures", 3, 1..=1000),
        successes: table.count("successes", 2, 1..=1000),
        answer: bytes(&table, "answer", "answer-hex").unwrap_or_default(),
        frame: frame?,
    })
}

/// Bytes as text, or as hexadecimal digits under another key.
fn bytes(table: &Section<'_>, text: &str, hex: &str) -> Option<Vec<u8>> {
    let as_text = table.text(text, "a text");
    let as_hex = table.text(hex, "hexadecimal digits");
    let (bytes, span) = match (as_text, as_hex) {
        (Some(text), None) => (text.value.as_bytes().to_vec(), text.span),
        (None, Some(digits)) => match parse(digits.value) {
            Some(bytes) => (bytes, digits.span),
            None => {
                let message = format!("`{hex}` cannot be {:?}", digits.value);
                let help = "write two hexadecimal digits for each byte; spaces may stand between";
                table.note(&digits.span, message, help);
                return None;
            }
        },
        (Some(_), Some(digits)) => {
            let message = format!("`{text}` and `{hex}` say the same");
            table.note(&digits.span, message, "leave one of them out");
            return None;
        }
        (None, None) => return None,
    };
    if bytes.len() > LONGEST {
        let message = format!("{} bytes are too many", bytes.len());
        table.note(&span, message, format!("allowed: up to {LONGEST}"));
        return None;
    }
    Some(bytes)
}

fn parse(digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> =
        digits.chars().filter(|c| *c != ' ').map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| (high * 16 + low) as u8).collect();
    rest.is_empty().then_some(bytes)
}
