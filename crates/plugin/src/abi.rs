//! The types of `ratewire_law.h`, field by field.

use std::ffi::{c_char, c_void};
use std::fmt;

use ratewire_laws::MAX_EXTERNAL_HEADER;

/// Version of the table that this crate reads.
pub(crate) const VERSION: u32 = 2;
/// Room for the text of an error, its final zero included.
pub(crate) const ERROR_ROOM: usize = 256;
/// Most quantities of an explanation.
pub(crate) const MAX_FIGURES: usize = 12;

/// Bytes of a congestion header; a law uses as many as it says.
pub(crate) type HeaderBytes = [u8; MAX_EXTERNAL_HEADER];

#[repr(C)]
pub(crate) struct OptionRow {
    pub(crate) name: *const c_char,
    pub(crate) kind: u32,
    pub(crate) part: u32,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) words: *const c_char,
    pub(crate) default_value: *const c_char,
    pub(crate) doc: *const c_char,
}

#[repr(C)]
pub(crate) struct OptionValue {
    pub(crate) text: *const c_char,
    pub(crate) number: f64,
    pub(crate) in_packets: bool,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Figure {
    pub(crate) name: *const c_char,
    pub(crate) value: f64,
    pub(crate) unit: u32,
}

#[repr(C)]
pub(crate) struct Reason {
    pub(crate) equation: *const c_char,
    pub(crate) figures: [Figure; MAX_FIGURES],
    pub(crate) count: u32,
}

#[repr(C)]
pub(crate) struct Flow {
    pub(crate) line_rate: f64,
    pub(crate) mss: u64,
    pub(crate) packet: u64,
    pub(crate) back_pressured: bool,
}

#[repr(C)]
pub(crate) struct Sending {
    pub(crate) now: f64,
    pub(crate) srtt: f64,
    pub(crate) rto: f64,
    pub(crate) packet: u64,
    pub(crate) in_flight: u64,
    pub(crate) receive_window: u64,
    pub(crate) limited: bool,
}

#[repr(C)]
pub(crate) struct Ack {
    pub(crate) now: f64,
    pub(crate) rtt: f64,
    pub(crate) srtt: f64,
    pub(crate) bytes: u64,
    pub(crate) in_flight: u64,
    pub(crate) was_in_flight: u64,
    pub(crate) cumulative: u64,
    pub(crate) next: u64,
    pub(crate) receive_window: u64,
    pub(crate) lost: u64,
    pub(crate) limited: bool,
    pub(crate) in_recovery: bool,
    pub(crate) marked: bool,
}

#[repr(C)]
pub(crate) struct Congestion {
    pub(crate) now: f64,
    pub(crate) srtt: f64,
    pub(crate) in_flight: u64,
}

#[repr(C)]
pub(crate) struct PortLink {
    pub(crate) rate: f64,
    pub(crate) delay: f64,
    pub(crate) id: u32,
}

#[repr(C)]
pub(crate) struct Queue {
    pub(crate) bytes: u64,
    pub(crate) packets: u32,
}

/// State of a law or of one of its parts, which only its own code reads.
pub(crate) type State = *mut c_void;

/// A function of the table, which may be missing.
macro_rules! function {
    (($($argument:ty),*) $(-> $result:ty)?) => {
        Option<unsafe extern "C" fn($($argument),*) $(-> $result)?>
    };
}
pub(crate) use function;

type OnCongestion = function!((State, *const Congestion));
type OnPacket = function!((State, f64, u64, *mut u8, *const Queue));

#[repr(C)]
pub(crate) struct SourceTable {
    pub(crate) create: function!((State, *const Flow) -> State),
    pub(crate) destroy: function!((State)),
    pub(crate) on_send: function!((State, *const Sending, *mut u8) -> bool),
    pub(crate) on_ack: function!((State, *const Ack, *const u8)),
    pub(crate) on_loss: OnCongestion,
    pub(crate) on_mark: OnCongestion,
    pub(crate) on_timeout: OnCongestion,
    pub(crate) on_recovered: function!((State, f64)),
    pub(crate) on_spurious: function!((State, f64)),
    pub(crate) slow_start_threshold: function!((State) -> f64),
    pub(crate) next_timer: function!((State) -> f64),
    pub(crate) on_timer: function!((State, f64)),
    pub(crate) window: function!((State) -> f64),
    pub(crate) pace: function!((State, *mut f64) -> bool),
    pub(crate) reason: function!((State, *mut Reason)),
}

#[repr(C)]
pub(crate) struct PortTable {
    pub(crate) create: function!((State, *const PortLink) -> State),
    pub(crate) destroy: function!((State)),
    pub(crate) on_arrival: OnPacket,
    pub(crate) on_departure: OnPacket,
    pub(crate) next_timer: function!((State) -> f64),
    pub(crate) on_timer: function!((State, f64, *const Queue)),
    pub(crate) on_rate_change: function!((State, f64, f64)),
    pub(crate) reason: function!((State, *mut Reason)),
}

#[repr(C)]
pub(crate) struct SinkTable {
    pub(crate) create: function!((State, *const Flow) -> State),
    pub(crate) destroy: function!((State)),
    pub(crate) on_data: function!((State, f64, *const u8)),
    pub(crate) on_ack: function!((State, f64, *mut u8) -> bool),
}

#[repr(C)]
pub(crate) struct Departure {
    pub(crate) packet: u64,
    pub(crate) was: *const u8,
    pub(crate) is: *const u8,
    pub(crate) before: *const f64,
    pub(crate) after: *const f64,
}

#[repr(C)]
pub(crate) struct BooksTable {
    pub(crate) create: function!((State) -> State),
    pub(crate) destroy: function!((State)),
    pub(crate) departed: function!((State, *const Departure) -> *const c_char),
    pub(crate) timer: function!((State, *const f64, *const f64) -> *const c_char),
    pub(crate) received: function!((State, *const u8) -> *const c_char),
    pub(crate) answered: function!((State, *const u8) -> *const c_char),
}

/// The table that a shared object exports.
#[repr(C)]
pub(crate) struct Table {
    pub(crate) version: u32,
    pub(crate) size: u32,
    pub(crate) name: *const c_char,
    pub(crate) title: *const c_char,
    pub(crate) summary: *const c_char,
    pub(crate) explanation: *const c_char,
    pub(crate) options: *const OptionRow,
    pub(crate) option_count: u32,
    pub(crate) header_length: u32,
    pub(crate) flags: u32,
    pub(crate) create: function!((*const OptionValue, *mut c_char) -> State),
    pub(crate) destroy: function!((State)),
    pub(crate) fields: function!((*const u8, *mut Figure) -> u32),
    pub(crate) source: SourceTable,
    pub(crate) port: PortTable,
    pub(crate) sink: SinkTable,
    pub(crate) books: BooksTable,
}

// SAFETY: a table does not change, and the header file asks for functions that may be called from
// several threads.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("header_length", &self.header_length).finish_non_exhaustive()
    }
}

/// Bits of [`Table::flags`].
pub(crate) mod flags {
    pub(crate) const GOES_BY_PACE: u32 = 1;
    pub(crate) const GOES_BY_LOSSES: u32 = 2;
    pub(crate) const DOES_NOT_REACT: u32 = 4;
    pub(crate) const EQUAL_SHARES: u32 = 8;
    pub(crate) const ANY_SPEED: u32 = 16;
    pub(crate) const SMALL_QUEUES: u32 = 32;
    pub(crate) const ALL: u32 = 63;
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::mem::offset_of;
    use std::process::Command;

    use ratewire_laws::MAX_UNPACED_WINDOW;

    use super::*;

    /// Sizes of types, and offsets of fields, in the header file's names and in this file's.
    macro_rules! layout {
        ($($c:literal $rust:ty { $($name:ident),* })*) => {
            (
                vec![$((concat!("sizeof(struct ", $c, ")"), size_of::<$rust>()),
                    $((concat!("offsetof(struct ", $c, ", ", stringify!($name), ")"),
                        offset_of!($rust, $name)),)*)*]
            )
        };
    }

    #[test]
    fn types_have_the_layout_of_the_header_file() {
        let all = layout! {
            "ratewire_option" OptionRow { name, kind, part, min, max, words, default_value, doc }
            "ratewire_value" OptionValue { text, number, in_packets }
            "ratewire_figure" Figure { name, value, unit }
            "ratewire_reason" Reason { equation, figures, count }
            "ratewire_flow" Flow { line_rate, mss, packet, back_pressured }
            "ratewire_sending" Sending {
                now, srtt, rto, packet, in_flight, receive_window, limited
            }
            "ratewire_ack" Ack {
                now, rtt, srtt, bytes, in_flight, was_in_flight, cumulative, next, receive_window,
                lost, limited, in_recovery, marked
            }
            "ratewire_congestion" Congestion { now, srtt, in_flight }
            "ratewire_link" PortLink { rate, delay, id }
            "ratewire_queue" Queue { bytes, packets }
            "ratewire_source" SourceTable {
                create, destroy, on_send, on_ack, on_loss, on_mark, on_timeout, on_recovered,
                on_spurious, slow_start_threshold, next_timer, on_timer, window, pace, reason
            }
            "ratewire_port" PortTable {
                create, destroy, on_arrival, on_departure, next_timer, on_timer, on_rate_change,
                reason
            }
            "ratewire_sink" SinkTable { create, destroy, on_data, on_ack }
            "ratewire_departure" Departure { packet, was, is, before, after }
            "ratewire_books" BooksTable { create, destroy, departed, timer, received, answered }
            "ratewire_law" Table {
                version, size, name, title, summary, explanation, options, option_count,
                header_length, flags, create, destroy, fields, source, port, sink, books
            }
        };
        let constants = [
            ("RATEWIRE_LAW_VERSION", VERSION as usize),
            ("RATEWIRE_MAX_HEADER", MAX_EXTERNAL_HEADER),
            ("RATEWIRE_MAX_UNPACED_WINDOW", MAX_UNPACED_WINDOW.get() as usize),
            ("RATEWIRE_ERROR_ROOM", ERROR_ROOM),
            ("RATEWIRE_MAX_FIGURES", MAX_FIGURES),
            ("RATEWIRE_GOES_BY_PACE", flags::GOES_BY_PACE as usize),
            ("RATEWIRE_GOES_BY_LOSSES", flags::GOES_BY_LOSSES as usize),
            ("RATEWIRE_SMALL_QUEUES", flags::SMALL_QUEUES as usize),
            ("RATEWIRE_DOES_NOT_REACT", flags::DOES_NOT_REACT as usize),
            ("RATEWIRE_EQUAL_SHARES", flags::EQUAL_SHARES as usize),
            ("RATEWIRE_ANY_SPEED", flags::ANY_SPEED as usize),
        ];
        // The compiler refuses an array of a negative size where a value is another.
        let mut text = "#include \"ratewire_law.h\"\n".to_string();
        for (at, (what, value)) in all.into_iter().chain(constants).enumerate() {
            writeln!(text, "typedef char v{at}[({what}) == {value} ? 1 : -1];").unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("layout.c");
        std::fs::write(&file, text).unwrap();
        let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include");
        let checked = Command::new("cc")
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", include])
            .arg(&file)
            .output()
            .expect("a C compiler");
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}
