//! Places names beside nodes so that they cover neither each other nor lines, as far as possible.

use unicode_width::UnicodeWidthStr;

use super::placed::Side;

/// Height of a line of text, in the drawing's units.
const LINE: f64 = 15.0;
/// Distances from the middle of a node to the edge of its label: beside the node, or further away
/// where labels are crowded.
const OFF: [f64; 2] = [12.0, 22.0];
/// Area of another label or node that a label may cover: a corner that holds no letter.
const CORNER: f64 = 6.0;

/// Height of letters.
pub(in crate::html) const LETTERS: f64 = 12.0;

/// Approximate width of `text` in letters of height [`LETTERS`].
pub(in crate::html) fn width(text: &str) -> f64 {
    text.width() as f64 * 7.0
}

/// A level rectangle, y downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::html) struct Box {
    pub(in crate::html) x0: f64,
    pub(in crate::html) y0: f64,
    pub(in crate::html) x1: f64,
    pub(in crate::html) y1: f64,
}

/// Start of a label's text, and how the text is anchored there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) anchor: &'static str,
}

/// Places labels one after the other.
pub(super) struct Labels {
    taken: Vec<Box>,
    lines: Vec<[(f64, f64); 2]>,
    size: (f64, f64),
    /// Largest size of letters, as a multiple of [`LETTERS`].
    scale: f64,
}

impl Box {
    /// The square around a point, of side 2 `half`.
    pub(in crate::html) fn around(x: f64, y: f64, half: f64) -> Box {
        Box { x0: x - half, y0: y - half, x1: x + half, y1: y + half }
    }
    /// Area that both boxes cover.
    pub(in crate::html) fn overlap(&self, o: &Box) -> f64 {
        let dx = f64::min(self.x1, o.x1) - f64::max(self.x0, o.x0);
        let dy = f64::min(self.y1, o.y1) - f64::max(self.y0, o.y0);
        if dx > 0.0 && dy > 0.0 { dx * dy } else { 0.0 }
    }
    /// Length of the segment inside the box, by samples.
    fn crossed(&self, [a, b]: &[(f64, f64); 2]) -> f64 {
        const SAMPLES: i32 = 40;
        let (low, high) = ((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1)));
        if high.0 < self.x0 || low.0 > self.x1 || high.1 < self.y0 || low.1 > self.y1 {
            return 0.0;
        }
        let length = ((b.0 - a.0) * (b.0 - a.0) + (b.1 - a.1) * (b.1 - a.1)).sqrt();
        let inside = (0..=SAMPLES).filter(|&k| {
            let t = f64::from(k) / f64::from(SAMPLES);
            let (x, y) = (a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t);
            x > self.x0 && x < self.x1 && y > self.y0 && y < self.y1
        });
        inside.count() as f64 / f64::from(SAMPLES) * length
    }
}

impl Labels {
    /// Labels for a drawing of `size` with these nodes and lines.
    pub(super) fn new(
        size: (f64, f64),
        nodes: &[(f64, f64)],
        lines: Vec<[(f64, f64); 2]>,
    ) -> Labels {
        Labels {
            taken: nodes.iter().map(|p| Box::around(p.0, p.1, 8.0)).collect(),
            lines,
            size,
            scale: 1.0,
        }
    }

    /// Leaves room for the larger letters that page.css has on phones, in drawings that fit a
    /// phone.
    pub(super) fn for_phones(self) -> Labels {
        Labels { scale: 16.0 / LETTERS, ..self }
    }

    /// Width and height of `text`.
    pub(super) fn room(&self, text: &str) -> (f64, f64) {
        (width(text) * self.scale, LINE * self.scale)
    }

    /// Takes `area` if it is free of nodes and labels; returns whether it was.
    pub(super) fn take(&mut self, area: Box) -> bool {
        let free = self.taken.iter().all(|t| t.overlap(&area) == 0.0);
        if free {
            self.taken.push(area);
        }
        free
    }

    /// The best place for `text` at the node `at`, on the side asked for unless another is better.
    /// `None` if every place covers a label or a node, or too much of lines.
    pub(super) fn place(&mut self, at: (f64, f64), text: &str, side: Side) -> Option<Label> {
        let (w, h) = self.room(text);
        let spots = OFF.into_iter().flat_map(|off| {
            let diagonal = off * 0.75;
            [
                (Side::Right, at.0 + off, at.1, "start"),
                (Side::Left, at.0 - off, at.1, "end"),
                (Side::Above, at.0, at.1 - off - 4.0, "middle"),
                (Side::Below, at.0, at.1 + off + 4.0, "middle"),
                (Side::Right, at.0 + diagonal, at.1 - off, "start"),
                (Side::Right, at.0 + diagonal, at.1 + off, "start"),
                (Side::Left, at.0 - diagonal, at.1 - off, "end"),
                (Side::Left, at.0 - diagonal, at.1 + off, "end"),
            ]
        });
        let mut best: Option<(f64, Label, Box)> = None;
        for (i, (spot_side, x, y, anchor)) in spots.enumerate() {
            let x0 = match anchor {
                "start" => x,
                "end" => x - w,
                _ => x - w / 2.0,
            };
            let area = Box { x0: x0 - 2.0, y0: y - h / 2.0, x1: x0 + w + 2.0, y1: y + h / 2.0 };
            let outside = f64::max(0.0, -area.x0)
                + f64::max(0.0, area.x1 - self.size.0)
                + f64::max(0.0, -area.y0)
                + f64::max(0.0, area.y1 - self.size.1);
            let covered: f64 = self.taken.iter().map(|t| t.overlap(&area)).sum();
            if covered > CORNER {
                continue;
            }
            let crossed: f64 = self.lines.iter().map(|l| area.crossed(l)).sum();
            let liking = if spot_side == side && i < 4 { 0.0 } else { 3.0 + i as f64 * 0.2 };
            let cost = covered + crossed * 2.0 + outside * 50.0 + liking;
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, Label { x, y, anchor }, area));
            }
        }
        let (cost, label, area) = best?;
        // A label that covers so much cannot be read; the tooltip has the name.
        if cost > w * 2.2 + 40.0 {
            return None;
        }
        self.taken.push(area);
        Some(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_label_goes_where_it_likes() {
        let mut labels = Labels::new((200.0, 200.0), &[(100.0, 100.0)], vec![]);
        let label = labels.place((100.0, 100.0), "abc", Side::Left).unwrap();
        assert_eq!((label.anchor, label.y), ("end", 100.0));
    }

    #[test]
    fn labels_avoid_each_other_and_the_edge() {
        let nodes = [(190.0, 100.0), (190.0, 104.0)];
        let mut labels = Labels::new((200.0, 200.0), &nodes, vec![]);
        let first = labels.place(nodes[0], "router", Side::Right).unwrap();
        let second = labels.place(nodes[1], "router", Side::Right).unwrap();
        assert_eq!(first.anchor, "end");
        assert_ne!(first, second);
    }

    #[test]
    fn a_label_without_room_is_left_out() {
        let nodes: Vec<(f64, f64)> = (0..49)
            .map(|i| (100.0 + f64::from(i % 7) * 17.0, 100.0 + f64::from(i / 7) * 17.0))
            .collect();
        let mut labels = Labels::new((300.0, 300.0), &nodes, vec![]);
        assert_eq!(labels.place(nodes[24], "in the middle", Side::Right), None);
    }

    #[test]
    fn an_area_is_taken_once_and_not_over_a_node() {
        let mut labels = Labels::new((200.0, 200.0), &[(100.0, 100.0)], vec![]);
        assert!(!labels.take(Box::around(110.0, 100.0, 8.0)));
        assert!(labels.take(Box::around(130.0, 100.0, 8.0)));
        assert!(!labels.take(Box::around(140.0, 100.0, 8.0)));
    }

    #[test]
    fn labels_avoid_lines() {
        let at = (100.0, 100.0);
        let mut labels = Labels::new((200.0, 200.0), &[at], vec![[at, (200.0, 100.0)]]);
        assert_ne!(labels.place(at, "abc", Side::Right).unwrap().anchor, "start");
    }
}
