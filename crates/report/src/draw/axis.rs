//! Ticks of an axis, and the place of a value along it.

use super::FigureAxis;

/// A tick: a value and its label.
pub(super) type Tick = (f64, String);

/// Ten to a power: the number that the decimal text stands for, as the page's script has it.
fn ten_to(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::INFINITY)
}

/// The power of ten at or below a value.
fn decade(value: f64) -> i32 {
    libm::floor(libm::log10(value) + 1e-9) as i32
}

impl FigureAxis {
    /// Place of a value along the axis, 0 to 1.
    pub(super) fn part(&self, value: f64) -> f64 {
        let part = if self.log {
            let least = if self.is_cut { f64::MIN_POSITIVE } else { self.low };
            libm::log(value.max(least) / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // Far outside is as good as infinitely far, and has fewer digits.
        if self.is_cut { part.clamp(-9.0, 10.0) } else { part.clamp(0.0, 1.0) }
    }

    /// Whether a value is drawn: all are, unless the range was chosen.
    pub(super) fn shows(&self, value: f64) -> bool {
        !self.is_cut || (self.low..=self.high).contains(&value)
    }

    /// About `wanted` ticks; of an axis of names, one a name.
    pub(super) fn ticks(&self, wanted: f64) -> Vec<Tick> {
        if !self.names.is_empty() {
            let named = self.names.iter().enumerate();
            return named.map(|(i, name)| (i as f64, name.clone())).collect();
        }
        let ticks = if self.log { self.log_ticks(wanted) } else { Vec::new() };
        // A short logarithmic axis may have few numbers that are as round.
        let is_short = !self.log || self.high / self.low < 10.0;
        if is_short && ticks.len() < 3 { self.linear_ticks(wanted) } else { ticks }
    }

    fn linear_ticks(&self, wanted: f64) -> Vec<Tick> {
        let rough = (self.high - self.low) / wanted;
        if !(rough > 0.0 && rough.is_finite()) {
            return Vec::new();
        }
        let power = decade(rough);
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * ten_to(power));
        let step = steps.into_iter().find(|step| *step >= rough * (1.0 - 1e-9));
        let step = step.unwrap_or(steps[3]);
        let digits = (-decade(step)).max(0) as usize;
        let first = libm::ceil(self.low / step - 1e-9) as i64;
        let last = libm::floor(self.high / step + 1e-9) as i64;
        (first..=last).map(|i| i as f64 * step).map(|v| (v, format!("{v:.digits$}"))).collect()
    }

    fn log_ticks(&self, wanted: f64) -> Vec<Tick> {
        let (first, last) = (decade(self.low), decade(self.high));
        let is_short = self.high / self.low < 200.0;
        let steps: &[f64] = if is_short { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let stride = (libm::ceil(f64::from(last - first) / wanted) as i32).max(1);
        let every = |stride: i32| -> Vec<Tick> {
            let powers = (first..=last).filter(|power| steps.len() > 1 || power % stride == 0);
            let all = powers.flat_map(|power| steps.iter().map(move |step| (*step, power)));
            all.map(|(step, power)| (step * ten_to(power), step, power))
                .filter(|(value, ..)| {
                    (self.low * (1.0 - 1e-9)..=self.high * (1.0 + 1e-9)).contains(value)
                })
                .map(|(value, step, power)| (value, log_label(value, step, power)))
                .collect()
        };
        // Of one tick nothing is read.
        Some(every(stride)).filter(|ticks| ticks.len() > 1).unwrap_or_else(|| every(1))
    }
}

/// The ticks whose labels do not touch; `room` gives the part of the axis that a label takes.
pub(super) fn spaced(axis: &FigureAxis, ticks: Vec<Tick>, room: impl Fn(&str) -> f64) -> Vec<Tick> {
    let fit = |ticks: &[Tick]| {
        ticks.windows(2).all(|pair| {
            let apart = axis.part(pair[1].0) - axis.part(pair[0].0);
            apart >= (room(&pair[0].1) + room(&pair[1].1)) / 2.0
        })
    };
    let is_power = |tick: &&Tick| (ten_to(decade(tick.0)) / tick.0 - 1.0).abs() < 1e-6;
    let powers: Vec<Tick> = ticks.iter().filter(is_power).cloned().collect();
    let ticks = match axis.log && powers.len() > 1 && !fit(&ticks) {
        true => powers,
        false => ticks,
    };
    let every = |step: usize| ticks.iter().step_by(step).cloned().collect::<Vec<Tick>>();
    (1..).map(every).find(|ticks| fit(ticks)).unwrap_or_default()
}

fn log_label(value: f64, step: f64, power: i32) -> String {
    if !(-4..6).contains(&power) {
        return format!("{step}e{power}");
    }
    let digits = (-power).max(0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, log: bool, wanted: f64) -> Vec<String> {
        let axis = FigureAxis { low, high, log, ..FigureAxis::default() };
        axis.ticks(wanted).into_iter().map(|tick| tick.1).collect()
    }

    #[test]
    fn ticks_are_few_and_round() {
        assert_eq!(labels(0.0, 106.0, false, 5.0), ["0", "50", "100"]);
        assert_eq!(labels(0.0, 1.06, false, 5.0), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(12.0, 18.0, false, 6.0), ["12", "13", "14", "15", "16", "17", "18"]);
        assert_eq!(labels(0.9, 120.0, true, 5.0), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(1e-3, 1e4, true, 5.0), ["0.01", "1", "100", "10000"]);
        assert_eq!(labels(1e7, 1e12, true, 6.0), ["1e7", "1e8", "1e9", "1e10", "1e11", "1e12"]);
        assert!(labels(1.0, 1.0, false, 5.0).is_empty());
        assert_eq!(labels(2.1, 4.8, true, 5.0), ["3", "4"]);
        assert_eq!(labels(3e2, 5e5, true, 2.0), ["1000", "10000", "100000"]);
        assert_eq!(labels(0.12, 0.7, true, 5.0), ["0.2", "0.4", "0.6"]);
    }

    #[test]
    fn labels_do_not_touch() {
        let spaced = |low, high, log, part| {
            let axis = FigureAxis { low, high, log, ..FigureAxis::default() };
            let ticks = spaced(&axis, axis.ticks(5.0), |label| label.len() as f64 * part);
            ticks.into_iter().map(|tick| tick.1).collect::<Vec<_>>()
        };
        assert_eq!(spaced(0.0, 106.0, false, 0.1), ["0", "50", "100"]);
        assert_eq!(spaced(0.0, 106.0, false, 0.3), ["0", "100"]);
        assert_eq!(spaced(0.9, 120.0, true, 0.03), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(spaced(0.9, 120.0, true, 0.1), ["1", "10", "100"]);
        assert_eq!(spaced(0.9, 120.0, true, 0.5), ["1"]);
        let names = ["a", "b", "c", "d", "e"].map(String::from);
        let axis = FigureAxis::of_names("key", names.into());
        let kept = super::spaced(&axis, axis.ticks(5.0), |_| 0.3);
        assert_eq!(kept.iter().map(|tick| tick.1.as_str()).collect::<Vec<_>>(), ["a", "c", "e"]);
    }

    #[test]
    fn places_stay_on_the_axis() {
        let log = FigureAxis { low: 1.0, high: 100.0, log: true, ..FigureAxis::default() };
        assert_eq!([log.part(0.0), log.part(10.0), log.part(1e9)], [0.0, 0.5, 1.0]);
    }
}
