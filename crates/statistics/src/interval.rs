//! How far a mean over a few independent values may be off, and whether two means differ.
//!
//! Intervals are Student's, at 95 %. They are computed here because libraries call the platform's
//! `ln` and `exp`, which differ between machines; for whole degrees of freedom the distribution has
//! a closed form without them.

/// The part of repetitions in which an interval holds the true mean.
const CONFIDENCE: f64 = 0.95;

/// A mean and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean of the values.
    pub mean: f64,
    /// Half the width of the 95 % interval around it. `None` for a single value and for equal
    /// values, which do not show how much further values would vary.
    pub margin: Option<f64>,
}

impl Estimate {
    /// The estimate from independent values; `None` without any.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let first = values.first()?;
        if values.iter().all(|v| v == first) {
            return Some(Estimate { mean: *first, margin: None });
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let error = (squares / (n - 1.0) / n).sqrt();
        Some(Estimate { mean, margin: Some(t_quantile(values.len() as u32 - 1) * error) })
    }
}

/// Whether a difference is more than noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Significance {
    /// No pair differs.
    Same,
    /// The interval of the difference includes 0: chance alone may have made it.
    WithinNoise,
    /// The difference is one that chance would rarely make.
    Differs,
}

/// A difference between two laws, or between any two things measured in pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// By how much the first exceeds the second.
    pub by: Estimate,
    /// Whether chance alone may have made the difference.
    pub significance: Significance,
}

impl Difference {
    /// The difference of values measured in pairs, each pair under the same circumstances: what a
    /// pair has in common is no noise. `None` below two pairs, which show nothing about chance.
    pub fn paired(first: &[f64], second: &[f64]) -> Option<Difference> {
        let by: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        if by.len() < 2 {
            return None;
        }
        let by = Estimate::of(&by)?;
        let significance = match by.margin {
            Some(margin) if by.mean.abs() <= margin => Significance::WithinNoise,
            None if by.mean == 0.0 => Significance::Same,
            _ => Significance::Differs,
        };
        Some(Difference { by, significance })
    }

    /// The difference of two values that do not depend on chance.
    pub fn exact(first: f64, second: f64) -> Difference {
        let by = Estimate { mean: first - second, margin: None };
        let significance = if first == second { Significance::Same } else { Significance::Differs };
        Difference { by, significance }
    }
}

/// How many standard errors to either side of a mean its 95 % interval reaches, with this many
/// degrees of freedom; infinitely many with none.
fn t_quantile(freedom: u32) -> f64 {
    if freedom == 0 {
        return f64::INFINITY;
    }
    // t = sqrt(freedom) tan(angle), and the probability grows with the angle.
    let (mut low, mut high) = (0.0, core::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if probability(middle, freedom) < CONFIDENCE {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::from(freedom).sqrt() * libm::tan(low)
}

/// Probability that Student's t lies within `sqrt(freedom) tan(angle)` of 0 (Abramowitz and Stegun,
/// 26.7.3 for odd and 26.7.4 for even degrees of freedom).
fn probability(angle: f64, freedom: u32) -> f64 {
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let is_odd = freedom % 2 == 1;
    let mut term = if is_odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    // The powers of the cosine go up to the degrees of freedom less 2, in steps of 2.
    let mut power = freedom % 2;
    while power + 2 <= freedom {
        sum += term;
        let next = f64::from(power + 2);
        term *= cosine * cosine * (next - 1.0) / next;
        power += 2;
    }
    if is_odd { (angle + sine * sum) * core::f64::consts::FRAC_2_PI } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided 95 % points, Abramowitz and Stegun, table 26.10.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table = [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (10, 2.228),
            (29, 2.045),
            (30, 2.042),
            (120, 1.980),
        ];
        for (freedom, t) in table {
            assert!((t_quantile(freedom) - t).abs() < 5e-4, "{freedom}: {}", t_quantile(freedom));
        }
        // The normal distribution's 1.95996 is the limit.
        assert!((t_quantile(100_000) - 1.959_99).abs() < 2e-5);
        assert_eq!(t_quantile(0), f64::INFINITY);
    }

    /// Five values with mean 3 and standard deviation sqrt(2.5): 2.776 sqrt(2.5 / 5) to either
    /// side.
    #[test]
    fn an_interval_worked_by_hand() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(estimate.mean, 3.0);
        assert!((estimate.margin.unwrap() - 1.963_2).abs() < 1e-4, "{estimate:?}");
    }

    #[test]
    fn what_does_not_vary_has_no_interval() {
        assert_eq!(Estimate::of(&[]), None);
        assert_eq!(Estimate::of(&[7.0]), Some(Estimate { mean: 7.0, margin: None }));
        // A sum divided by 3 would not be 0.1 again.
        assert_eq!(Estimate::of(&[0.1; 3]), Some(Estimate { mean: 0.1, margin: None }));
    }

    /// Pairs vary a lot but always differ by about as much: unpaired, that variation would hide the
    /// difference.
    #[test]
    fn pairs_see_through_what_they_have_in_common() {
        let a = [10.0, 20.0, 35.0, 50.0];
        let b = [9.0, 19.1, 33.9, 49.0];
        let apart = Difference::paired(&a, &b).unwrap();
        assert_eq!(apart.significance, Significance::Differs);
        assert!((apart.by.mean - 1.0).abs() < 1e-9);
        let back = Difference::paired(&b, &a).unwrap();
        assert_eq!((back.significance, back.by.mean), (Significance::Differs, -apart.by.mean));
    }

    #[test]
    fn noise_is_what_may_as_well_be_nothing() {
        let significance = |a: &[f64], b: &[f64]| Difference::paired(a, b).map(|d| d.significance);
        assert_eq!(
            significance(&[1.0, 3.0, 2.0], &[2.0, 1.0, 2.5]),
            Some(Significance::WithinNoise)
        );
        assert_eq!(significance(&[1.0, 3.0], &[1.0, 3.0]), Some(Significance::Same));
        assert_eq!(significance(&[2.0, 4.0], &[1.0, 3.0]), Some(Significance::Differs));
        assert_eq!(significance(&[2.0], &[1.0]), None);
        assert_eq!(Difference::exact(2.0, 1.0).significance, Significance::Differs);
        assert_eq!(Difference::exact(1.0, 1.0).significance, Significance::Same);
    }

    /// Of many intervals from the same normal source, 95 % hold the true mean.
    #[test]
    fn intervals_cover_as_often_as_they_say() {
        let mut state = 1_u64;
        let mut uniform = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        };
        let mut normal = || {
            let (u, v) = (uniform(), uniform());
            (-2.0 * libm::log(u)).sqrt() * libm::cos(core::f64::consts::TAU * v)
        };
        let repetitions = 20_000;
        let covered = (0..repetitions)
            .filter(|_| {
                let values: Vec<f64> = (0..5).map(|_| 10.0 + normal()).collect();
                let estimate = Estimate::of(&values).unwrap();
                (estimate.mean - 10.0).abs() <= estimate.margin.unwrap()
            })
            .count();
        // Three standard errors of a proportion of 0.95 in 20,000 are 0.0046.
        let part = covered as f64 / f64::from(repetitions);
        assert!((part - 0.95).abs() < 0.0046, "{part}");
    }
}
