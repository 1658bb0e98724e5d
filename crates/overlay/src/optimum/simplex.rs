//! The simplex method for packing programmes: maximise `c·x` while `A·x <= b` and `0 <= x <= u`.
//!
//! Source: V. Chvátal, Linear Programming, 1983: dictionaries (chapter 2), Bland's rule (chapter
//! 3), upper bounds (chapter 8). All of `b` is at least zero, so `x = 0` is feasible and there is
//! no first phase. A variable at its upper bound `u` is replaced by `u - x`, so every nonbasic
//! variable is zero.
//!
//! # Why it ends
//!
//! There are finitely many dictionaries. A step that raises the objective leads to a new one. A
//! step that does not raise it has length zero, and Bland's rule chooses the next steps until one
//! raises it. Steps of length zero change no variable's value. Variables whose upper bound is zero
//! never enter, so each variable that enters or leaves stays at one bound of its own. These steps
//! are therefore steps of a programme without upper bounds, for which Bland's theorem says that no
//! dictionary repeats.
//!
//! The theorem is about exact numbers. A limit on the number of steps covers rounding.

/// Coefficients of constraints up to this one are rounding errors of zero. Resources are used once
/// or a few times, so coefficients are about one.
const LEAST_USE: f64 = 1e-11;

/// Coefficients of the objective up to this share of the largest one are rounding errors of zero.
const LEAST_GAIN: f64 = 1e-11;

/// Limit on steps for each variable and constraint.
const MOST_STEPS: usize = 1000;

/// A packing programme.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Program {
    /// Benefit of each variable: `c`.
    pub(super) benefits: Vec<f64>,
    /// Upper bound of each variable: `u`, at least zero; may be infinite.
    pub(super) most: Vec<f64>,
    /// A row of `A` for each constraint, with a coefficient for each variable.
    pub(super) uses: Vec<Vec<f64>>,
    /// Right-hand side of each constraint: `b`, at least zero and finite.
    pub(super) capacities: Vec<f64>,
}

impl Program {
    /// The last dictionary of the simplex method, whose solution is optimal. `None` if the
    /// objective has no bound, or if rounding kept the method from its end.
    pub(super) fn maximise(&self) -> Option<Dictionary> {
        let mut dictionary = Dictionary::new(self);
        let mut worth = 0.0;
        let mut rule = Rule::LargestCoefficient;
        for _ in 0..MOST_STEPS * (self.benefits.len() + self.capacities.len() + 1) {
            let Some(entering) = dictionary.entering(rule) else { return Some(dictionary) };
            let step = dictionary.leaving(entering);
            if step.length.is_infinite() {
                return None;
            }
            let raised = worth + dictionary.gains[entering] * step.length;
            rule = if raised > worth { Rule::LargestCoefficient } else { Rule::Bland };
            worth = raised;
            dictionary.advance(entering, step);
        }
        None
    }
}

/// How the entering variable is chosen among those that raise the objective.
#[derive(Clone, Copy, Debug)]
enum Rule {
    LargestCoefficient,
    /// The smallest subscript. Ties between leaving variables always go by this rule.
    Bland,
}

/// How far the entering variable rises, and what stops it there.
#[derive(Clone, Copy, Debug)]
struct Step {
    length: f64,
    /// Row of the basic variable that reaches a bound; without one, the entering variable reaches
    /// its own upper bound.
    row: Option<usize>,
}

/// Each basic variable, and the objective, as a function of the nonbasic variables, which are zero.
///
/// Subscripts of variables: first those of the programme, then the slack of each constraint.
#[derive(Clone, Debug)]
pub(super) struct Dictionary {
    /// Basic variable of each row.
    basic: Vec<usize>,
    /// Value of each row's basic variable.
    values: Vec<f64>,
    /// For each row, what a unit of each nonbasic variable takes from the basic variable.
    rows: Vec<Vec<f64>>,
    /// Nonbasic variable of each column.
    nonbasic: Vec<usize>,
    /// What a unit of each nonbasic variable adds to the objective.
    gains: Vec<f64>,
    /// Gains up to this one are rounding errors of zero.
    least_gain: f64,
    /// Upper bound of each variable; slacks have none.
    upper: Vec<f64>,
    /// Whether `u - x` stands for the variable `x`.
    mirrored: Vec<bool>,
}

impl Dictionary {
    fn new(program: &Program) -> Dictionary {
        let (variables, slacks) = (program.benefits.len(), program.capacities.len());
        let largest = program.benefits.iter().fold(0.0_f64, |most, gain| most.max(gain.abs()));
        let mut upper = program.most.clone();
        upper.resize(variables + slacks, f64::INFINITY);
        Dictionary {
            basic: (variables..variables + slacks).collect(),
            values: program.capacities.clone(),
            rows: program.uses.clone(),
            nonbasic: (0..variables).collect(),
            gains: program.benefits.clone(),
            least_gain: largest * LEAST_GAIN,
            mirrored: vec![false; upper.len()],
            upper,
        }
    }

    /// Values of the programme's variables.
    pub(super) fn solution(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.upper.len()];
        for (variable, value) in self.basic.iter().zip(&self.values) {
            all[*variable] = *value;
        }
        for (variable, value) in all.iter_mut().enumerate() {
            if self.mirrored[variable] {
                *value = self.upper[variable] - *value;
            }
        }
        all.truncate(self.nonbasic.len());
        all
    }

    /// Column of a variable that raises the objective; `None` at the optimum.
    fn entering(&self, rule: Rule) -> Option<usize> {
        let raises = |column: &usize| {
            self.gains[*column] > self.least_gain && self.upper[self.nonbasic[*column]] > 0.0
        };
        let columns = (0..self.nonbasic.len()).filter(raises);
        match rule {
            Rule::LargestCoefficient => columns.max_by(|one, other| {
                let (one, other) = (*one, *other);
                let subscripts = self.nonbasic[other].cmp(&self.nonbasic[one]);
                self.gains[one].total_cmp(&self.gains[other]).then(subscripts)
            }),
            Rule::Bland => columns.min_by_key(|column| self.nonbasic[*column]),
        }
    }

    /// How far a column's variable can rise until it or a basic variable reaches a bound.
    fn leaving(&self, column: usize) -> Step {
        let mut first = self.nonbasic[column];
        let mut step = Step { length: self.upper[first], row: None };
        for (at, (row, basic)) in self.rows.iter().zip(&self.basic).enumerate() {
            let room = if row[column] > LEAST_USE {
                self.values[at]
            } else if row[column] < -LEAST_USE {
                self.upper[*basic] - self.values[at]
            } else {
                continue;
            };
            let length = room / row[column].abs();
            if length < step.length || (length == step.length && *basic < first) {
                (step, first) = (Step { length, row: Some(at) }, *basic);
            }
        }
        step
    }

    /// Raises a column's variable as far as the step says.
    fn advance(&mut self, column: usize, step: Step) {
        for (at, row) in self.rows.iter().enumerate() {
            // Rounding must not lead out of the bounds.
            let value = self.values[at] - row[column] * step.length;
            self.values[at] = value.clamp(0.0, self.upper[self.basic[at]]);
        }
        match step.row {
            Some(row) => self.pivot(row, column, step.length),
            None => self.mirror_column(column),
        }
    }

    /// Replaces a nonbasic variable, which is at its upper bound, by its distance from it.
    fn mirror_column(&mut self, column: usize) {
        self.rows.iter_mut().for_each(|row| row[column] = -row[column]);
        self.gains[column] = -self.gains[column];
        let variable = self.nonbasic[column];
        self.mirrored[variable] = !self.mirrored[variable];
    }

    /// Exchanges a basic variable, which is at a bound, for a nonbasic one with this value.
    fn pivot(&mut self, row: usize, column: usize, value: f64) {
        let mut own = std::mem::take(&mut self.rows[row]);
        if own[column] < 0.0 {
            // The basic variable is at its upper bound.
            own.iter_mut().for_each(|coefficient| *coefficient = -*coefficient);
            let variable = self.basic[row];
            self.mirrored[variable] = !self.mirrored[variable];
        }
        let pivot = own[column];
        own[column] = 1.0;
        own.iter_mut().for_each(|coefficient| *coefficient /= pivot);
        let others = self.rows.iter_mut().enumerate().filter(|(at, _)| *at != row);
        for (_, other) in others {
            let times = std::mem::take(&mut other[column]);
            subtract(other, times, &own);
        }
        let gain = std::mem::take(&mut self.gains[column]);
        subtract(&mut self.gains, gain, &own);
        self.rows[row] = own;
        self.values[row] = value;
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
    }
}

/// Subtracts a multiple of one row from another.
fn subtract(from: &mut [f64], times: f64, row: &[f64]) {
    if times != 0.0 {
        from.iter_mut().zip(row).for_each(|(to, own)| *to -= times * own);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Dictionary {
        /// Price of a unit of each constraint's capacity: the dual variables.
        fn prices(&self) -> Vec<f64> {
            let variables = self.nonbasic.len();
            let mut prices = vec![0.0; self.basic.len()];
            for (variable, gain) in self.nonbasic.iter().zip(&self.gains) {
                if let Some(slack) = variable.checked_sub(variables) {
                    prices[slack] = (-gain).max(0.0);
                }
            }
            prices
        }
    }

    fn dot(one: &[f64], other: &[f64]) -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    }

    /// An upper bound of the objective for any prices of at least zero (weak duality): the price
    /// of all capacities, and what each variable at its upper bound gains beyond its uses' prices.
    fn bound(program: &Program, prices: &[f64]) -> f64 {
        let beyond = |variable: usize| {
            let rows = program.uses.iter().zip(prices);
            let cost: f64 = rows.map(|(row, price)| row[variable] * price).sum();
            let gain = program.benefits[variable] - cost;
            // Rounding errors of a gain of zero do not count: the upper bound may be infinite.
            if gain > 1e-9 { gain * program.most[variable] } else { 0.0 }
        };
        dot(&program.capacities, prices) + (0..program.benefits.len()).map(beyond).sum::<f64>()
    }

    /// The solution, after a check that it is feasible and that no solution is better.
    #[track_caller]
    fn solve(program: &Program) -> Vec<f64> {
        let dictionary = program.maximise().expect("a bounded programme");
        let (found, prices) = (dictionary.solution(), dictionary.prices());
        for (value, most) in found.iter().zip(&program.most) {
            assert!((0.0..=*most).contains(value), "{value} of {most}: {program:?}");
        }
        for (row, capacity) in program.uses.iter().zip(&program.capacities) {
            let used = dot(row, &found);
            assert!(used <= capacity * (1.0 + 1e-9) + 1e-9, "{used} of {capacity}: {program:?}");
        }
        let (worth, bound) = (dot(&program.benefits, &found), bound(program, &prices));
        let tolerance = 1e-9 * (1.0 + bound.abs());
        assert!((worth - bound).abs() <= tolerance, "{worth}, not {bound}: {program:?}");
        found
    }

    fn program(benefits: &[f64], most: &[f64], rows: &[(&[f64], f64)]) -> Program {
        Program {
            benefits: benefits.to_vec(),
            most: most.to_vec(),
            uses: rows.iter().map(|(row, _)| row.to_vec()).collect(),
            capacities: rows.iter().map(|(_, capacity)| *capacity).collect(),
        }
    }

    const NONE: f64 = f64::INFINITY;

    /// Chvátal's first example (chapter 2): 5, 4 and 3 a unit; the optimum is 13 at (2, 0, 1).
    #[test]
    fn the_textbooks_first_example() {
        let rows: [(&[f64], f64); 3] =
            [(&[2.0, 3.0, 1.0], 5.0), (&[4.0, 1.0, 2.0], 11.0), (&[3.0, 4.0, 2.0], 8.0)];
        let found = solve(&program(&[5.0, 4.0, 3.0], &[NONE; 3], &rows));
        for (found, known) in found.iter().zip([2.0, 0.0, 1.0]) {
            assert!((found - known).abs() < 1e-12, "{found} {known}");
        }
    }

    /// Chvátal's example of a cycle (chapter 3), with negative coefficients: the largest
    /// coefficient alone, with the smallest subscript at ties, returns after six steps.
    #[test]
    fn the_textbooks_cycle_ends() {
        let rows: [(&[f64], f64); 3] = [
            (&[0.5, -5.5, -2.5, 9.0], 0.0),
            (&[0.5, -1.5, -0.5, 1.0], 0.0),
            (&[1.0, 0.0, 0.0, 0.0], 1.0),
        ];
        let cycle = program(&[10.0, -57.0, -9.0, -24.0], &[NONE; 4], &rows);
        let found = solve(&cycle);
        assert!((dot(&cycle.benefits, &found) - 1.0).abs() < 1e-12, "{found:?}");
        let mut seen = Dictionary::new(&cycle);
        for _ in 0..6 {
            let entering = seen.entering(Rule::LargestCoefficient).unwrap();
            let step = seen.leaving(entering);
            assert_eq!(step.length, 0.0);
            seen.advance(entering, step);
        }
        assert_eq!(seen.basic, [4, 5, 6], "the cycle of the largest coefficient");
    }

    #[test]
    fn upper_bounds_hold_where_links_are_wide() {
        let found = solve(&program(&[1.0, 2.0], &[3.0, 4.0], &[(&[1.0, 1.0], 100.0)]));
        assert_eq!(found, [3.0, 4.0]);
        // The second variable enters first and rises to its bound; the first takes the rest.
        let found = solve(&program(&[1.0, 2.0], &[NONE, 4.0], &[(&[1.0, 1.0], 10.0)]));
        assert_eq!(found, [6.0, 4.0]);
    }

    /// The third variable takes from the first, which makes room for the second, up to its bound.
    #[test]
    fn a_basic_variable_may_leave_at_its_upper_bound() {
        let rows: [(&[f64], f64); 2] = [(&[1.0, 1.0, 0.0], 4.0), (&[1.0, 0.0, 1.0], 3.0)];
        let found = solve(&program(&[5.0, 4.0, 2.0], &[NONE, 2.0, NONE], &rows));
        assert_eq!(found, [2.0, 2.0, 1.0]);
    }

    #[test]
    fn nothing_is_sent_over_links_without_capacity() {
        let rows: [(&[f64], f64); 2] = [(&[1.0, 1.0, 0.0], 0.0), (&[0.0, 1.0, 1.0], 2.0)];
        assert_eq!(solve(&program(&[1.0, 5.0, 1.0], &[NONE; 3], &rows)), [0.0, 0.0, 2.0]);
        assert_eq!(solve(&program(&[1.0, 1.0], &[0.0, 0.0], &[(&[1.0, 1.0], 1.0)])), [0.0, 0.0]);
        assert_eq!(solve(&program(&[], &[], &[])), [] as [f64; 0]);
    }

    #[test]
    fn what_has_no_benefit_is_not_sent() {
        let found = solve(&program(&[0.0, -1.0, 1.0], &[NONE; 3], &[(&[1.0, 1.0, 1.0], 2.0)]));
        assert_eq!(found, [0.0, 0.0, 2.0]);
    }

    #[test]
    fn a_programme_without_a_bound_has_no_optimum() {
        assert!(program(&[1.0, 1.0], &[1.0, NONE], &[(&[1.0, 0.0], 1.0)]).maximise().is_none());
        assert!(program(&[1.0], &[NONE], &[]).maximise().is_none());
    }

    /// A bounded programme: what has no upper bound uses at least one link.
    fn programs(variables: usize, links: usize) -> impl Strategy<Value = Program> {
        let times = prop_oneof![3 => Just(0.0), 2 => Just(1.0), 1 => Just(2.0), 1 => Just(3.0)];
        let capacity = prop_oneof![1 => Just(0.0), 2 => Just(1.0), 5 => 0.1..10.0f64];
        let benefit = prop_oneof![1 => Just(0.0), 4 => (1u8..6).prop_map(f64::from), 2 => 0.1..9.0];
        let most = prop_oneof![1 => Just(0.0), 2 => Just(1.0), 4 => 0.1..5.0, 3 => Just(NONE)];
        let columns = prop::collection::vec(
            (benefit, most, prop::collection::vec(times, links)),
            1..=variables,
        );
        (prop::collection::vec(capacity, links), columns).prop_map(move |(capacities, columns)| {
            let bounded = columns.into_iter().map(|(benefit, most, uses)| {
                let is_bounded = most < NONE || uses.iter().any(|times| *times > 0.0);
                (benefit, if is_bounded { most } else { 1.0 }, uses)
            });
            let columns: Vec<(f64, f64, Vec<f64>)> = bounded.collect();
            Program {
                benefits: columns.iter().map(|(benefit, ..)| *benefit).collect(),
                most: columns.iter().map(|(_, most, _)| *most).collect(),
                uses: (0..links).map(|l| columns.iter().map(|c| c.2[l]).collect()).collect(),
                capacities,
            }
        })
    }

    proptest! {
        #[test]
        fn the_dual_prices_prove_every_optimum(program in programs(12, 6)) {
            solve(&program);
        }

        /// Rates of Gb/s in bytes are as exact as small numbers.
        #[test]
        fn the_unit_of_rates_does_not_matter(program in programs(8, 4)) {
            let scale = f64::from(1u32 << 27);
            let mut scaled = program.clone();
            scaled.most.iter_mut().for_each(|most| *most *= scale);
            scaled.capacities.iter_mut().for_each(|capacity| *capacity *= scale);
            let found = program.maximise().unwrap().solution();
            let found: Vec<f64> = found.iter().map(|value| value * scale).collect();
            prop_assert_eq!(scaled.maximise().unwrap().solution(), found);
        }
    }

    /// Three hundred demands over a hundred links, of which each demand uses eight.
    #[test]
    fn a_large_programme_is_solved() {
        let mut state = 1u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let (variables, links) = (300, 100);
        let mut uses = vec![vec![0.0; variables]; links];
        for visit in 0..8 * variables {
            uses[draw(links as u64) as usize][visit / 8] += 1.0;
        }
        let mut numbers = |count: usize, from: u64, to: u64| -> Vec<f64> {
            (0..count).map(|_| (from + draw(to - from)) as f64).collect()
        };
        let benefits = numbers(variables, 1, 20);
        let most = numbers(variables, 0, 2_000_000);
        let capacities = numbers(links, 0, 12_500_000);
        let large = Program { benefits, most, uses, capacities };
        solve(&large);
    }
}
