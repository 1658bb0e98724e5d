//! Colours, dashes and markers. A law has its colour and marker by its name, in every figure and on
//! every page, whatever other laws are there.
//!
//! - Laws of the tree have those of [`OWN`].
//! - Any other law has a colour by a hash of its name, and one of the markers that no law of the
//!   tree has. The folder and the extension of a law's file do not count.
//! - Laws of one figure that share a colour differ by their dashes, which depend on the figure.
//! - Flows and groups have muted tones, which no law has.

/// Colours of laws, and after them the tones of flows; the same in the page's script and style.
pub(crate) const PALETTE: [&str; LAWS + FLOWS] = [
    "#0072b2", "#d55e00", "#008a63", "#b8558f", "#9a6a00", "#8c1d3f", "#6a4fc0", "#a838d8",
    "#0090a8", "#5d8a00", "#d81e2c", "#1f3f77", "#1f2a38", "#8a7a63", "#566a84", "#93889a",
    "#4f4236", "#7f9383",
];

/// Number of colours of laws.
const LAWS: usize = 12;
/// Number of tones of flows.
const FLOWS: usize = 6;
/// Number of dashes.
pub(crate) const DASHES: usize = 4;
/// Markers of flows and of laws of the tree; those after them are of other laws.
const MARKS: usize = 7;
/// Number of markers of other laws.
const OTHER_MARKS: usize = 4;

/// Colour and marker of each law of the tree. Laws that share a colour are seldom compared. A law
/// of kernels has the colour of its equations.
const OWN: [(&str, usize, usize); 19] = [
    ("xcp", 0, 0),
    ("rcp", 1, 1),
    ("piqi-rcp", 2, 2),
    ("jetmax", 3, 3),
    ("emkc", 4, 4),
    ("maxnet", 5, 5),
    ("hpcc", 6, 6),
    ("abc", 7, 0),
    ("dctcp", 8, 1),
    ("newreno", 9, 2),
    ("cubic", 10, 3),
    ("bbr1", 11, 4),
    ("bbr3", 7, 5),
    ("noq", 4, 6),
    ("fixed", 5, 0),
    ("xcp@kernel", 0, 4),
    ("rcp@kernel", 1, 5),
    ("piqi-rcp@kernel", 2, 6),
    ("jetmax@kernel", 3, 1),
];

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Number of the colour in [`PALETTE`].
    pub(crate) hue: usize,
    /// Number of the dash; 0 is a full line.
    pub(crate) dash: usize,
    /// Number of the marker.
    pub(crate) mark: usize,
}

impl Look {
    /// Colour and marker of a law, with a full line.
    fn of_law(name: &str) -> Look {
        let (hue, mark) = match OWN.iter().find(|(own, ..)| *own == name) {
            Some((_, hue, mark)) => (*hue, *mark),
            None => {
                let hash = hash(stem(name)) as usize;
                (hash % LAWS, MARKS + hash / LAWS % OTHER_MARKS)
            }
        };
        Look { hue, dash: 0, mark }
    }

    /// Tone, dash and marker of the flow or group in this place.
    pub(crate) fn of_flow(place: usize) -> Look {
        Look { hue: LAWS + place % FLOWS, dash: place / FLOWS % DASHES, mark: place % MARKS }
    }
}

/// The looks of different laws that share a figure or a page, in their order.
pub(crate) fn looks<'a>(laws: impl IntoIterator<Item = &'a str>) -> Vec<Look> {
    let laws: Vec<&str> = laws.into_iter().collect();
    let place = |law: &str| OWN.iter().position(|(own, ..)| *own == law).unwrap_or(OWN.len());
    let look = |law: &&str| {
        let own = Look::of_law(law);
        let is_before = |other: &&&str| (place(other), **other) < (place(law), *law);
        let sharing = laws.iter().filter(is_before).filter(|law| Look::of_law(law).hue == own.hue);
        Look { dash: sharing.count() % DASHES, ..own }
    };
    laws.iter().map(look).collect()
}

/// The name of a law's file without folder and extension; other names as they are.
fn stem(name: &str) -> &str {
    let path = std::path::Path::new(name);
    let is_file = name.contains('/') || path.extension().is_some();
    path.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_file).unwrap_or(name)
}

/// FNV-1a, whose numbers are the same everywhere.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::MARKS as SHAPES;

    #[test]
    fn no_two_laws_of_the_tree_look_alike() {
        assert_eq!(SHAPES.len(), MARKS + OTHER_MARKS);
        let mut looks: Vec<(usize, usize)> = OWN.iter().map(|own| (own.1, own.2)).collect();
        assert!(looks.iter().all(|(hue, mark)| *hue < LAWS && *mark < MARKS));
        looks.sort_unstable();
        looks.dedup();
        assert_eq!(looks.len(), OWN.len());
        let names = OWN.iter().map(|own| own.0);
        let mut lines: Vec<_> = super::looks(names).iter().map(|l| (l.hue, l.dash)).collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), OWN.len(), "where markers are not seen, dashes differ");
    }

    #[test]
    fn colour_and_marker_depend_on_the_name_alone() {
        let of = |laws: &[&str], law: &str| {
            let place = laws.iter().position(|one| *one == law).expect("the law");
            let look = looks(laws.iter().copied())[place];
            (look.hue, look.mark)
        };
        for law in ["cubic", "fixed", "mylaw", "./laws/mylaw.so"] {
            let alone = of(&[law], law);
            for laws in [&["xcp", law][..], &[law, "maxnet", "rcp"], &["other", law, "abc"]] {
                assert_eq!(of(laws, law), alone, "{law} among {laws:?}");
            }
        }
        assert_eq!(of(&["mylaw"], "mylaw"), of(&["/a/mylaw.so"], "/a/mylaw.so"));
        assert!(of(&["mylaw"], "mylaw").1 >= MARKS, "no law of the tree has the marker");
    }

    #[test]
    fn laws_of_one_colour_differ_by_dashes_in_any_order() {
        let dashes = |laws: [&str; 2]| looks(laws).iter().map(|l| l.dash).collect::<Vec<_>>();
        assert_eq!(dashes(["abc", "bbr3"]), [0, 1]);
        assert_eq!(dashes(["bbr3", "abc"]), [1, 0]);
        assert_eq!(looks(["bbr3"])[0].dash, 0);
    }

    #[test]
    fn flows_have_no_colour_of_a_law() {
        let mut all: Vec<Look> = (0..42).map(Look::of_flow).collect();
        assert!(all.iter().all(|look| look.hue >= LAWS && look.hue < PALETTE.len()));
        all.sort_unstable_by_key(|look| (look.hue, look.mark, look.dash));
        all.dedup();
        assert_eq!(all.len(), 42);
    }
}
