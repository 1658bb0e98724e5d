//! Fair shares, how near rates are to them, and since when.

/// Jain's index `(sum x)^2 / (n sum x^2)` of rates in any one unit: 1 when all are equal, 1/n when
/// one has everything. `None` without rates, or if all are 0.
pub fn jain_index(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// The weighted max-min fair rate of each flow (Bertsekas and Gallager, Data Networks, 6.5.2).
/// Rates are compared after division by the flow's weight: no flow can have more unless a flow that
/// has less, or as much, gives some of its rate.
///
/// `paths` holds the links of each flow, as indices into `capacities`, and its weight, which is
/// above 0. A flow that crosses no link gets infinity.
pub fn max_min(capacities: &[f64], paths: &[(Vec<usize>, f64)]) -> Vec<f64> {
    let mut left = capacities.to_vec();
    let mut rates = vec![f64::INFINITY; paths.len()];
    let mut open: Vec<usize> = (0..paths.len()).filter(|flow| !paths[*flow].0.is_empty()).collect();
    while !open.is_empty() {
        let mut crossing = vec![0.0; left.len()];
        for (path, weight) in open.iter().map(|flow| &paths[*flow]) {
            path.iter().for_each(|link| crossing[*link] += weight);
        }
        let share = |link: usize| left[link].max(0.0) / crossing[link];
        let used = (0..left.len()).filter(|link| crossing[*link] > 0.0);
        let Some(tightest) = used.min_by(|a, b| share(*a).total_cmp(&share(*b))) else { break };
        let per_weight = share(tightest);
        let (held, free): (Vec<usize>, Vec<usize>) =
            open.into_iter().partition(|flow| paths[*flow].0.contains(&tightest));
        for flow in held {
            let (path, weight) = &paths[flow];
            rates[flow] = per_weight * weight;
            path.iter().for_each(|link| left[*link] -= rates[flow]);
        }
        open = free;
    }
    rates
}

/// Whether each of `amounts` is its fair part of their sum, give or take the part `within` of that
/// part. `fair` holds the fair proportions. Amounts that are all 0 are not fair.
pub fn is_fair(amounts: &[f64], fair: &[f64], within: f64) -> bool {
    let moved: f64 = amounts.iter().sum();
    let whole: f64 = fair.iter().sum();
    let near = |(amount, part): (&f64, &f64)| {
        let due = moved * part / whole;
        (amount - due).abs() <= within * due
    };
    moved > 0.0 && amounts.iter().zip(fair).all(near)
}

/// Index of the first of `held` from which on all are true; `None` if fewer than `least` remain.
pub fn settles_at(held: &[bool], least: usize) -> Option<usize> {
    let tail = held.iter().rev().take_while(|holds| **holds).count();
    (tail >= least.max(1)).then(|| held.len() - tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_goes_from_one_nth_to_one() {
        assert_eq!(jain_index(&[5.0, 5.0, 5.0, 5.0]), Some(1.0));
        assert_eq!(jain_index(&[9.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain_index(&[0.0, 0.0]), None);
        assert_eq!(jain_index(&[]), None);
    }

    /// Paths of flows of one weight.
    fn equal(paths: &[&[usize]]) -> Vec<(Vec<usize>, f64)> {
        paths.iter().map(|path| (path.to_vec(), 1.0)).collect()
    }

    #[test]
    fn shares_go_by_weight() {
        let paths = vec![(vec![0], 5.0), (vec![0], 10.0), (vec![0, 1], 15.0)];
        assert_eq!(max_min(&[60.0, 100.0], &paths), [10.0, 20.0, 30.0]);
        // Another link limits the heaviest flow: the others share the rest by their weights.
        assert_eq!(max_min(&[60.0, 15.0], &paths), [15.0, 30.0, 15.0]);
    }

    #[test]
    fn one_bottleneck_is_shared_equally() {
        let paths = equal(&[&[0, 2], &[1, 2], &[0, 2]]);
        assert_eq!(max_min(&[100.0, 100.0, 30.0], &paths), [10.0; 3]);
    }

    /// A parking lot: the short flow gets the part of the wide link that the long flow cannot use.
    #[test]
    fn what_one_flow_cannot_use_others_get() {
        let paths = equal(&[&[0, 1], &[0], &[1]]);
        assert_eq!(max_min(&[10.0, 30.0], &paths), [5.0, 5.0, 25.0]);
    }

    #[test]
    fn dead_links_and_flows_without_links_end_all_the_same() {
        let rates = max_min(&[0.0, 8.0], &equal(&[&[0, 1], &[1], &[]]));
        assert_eq!(rates, [0.0, 8.0, f64::INFINITY]);
        assert_eq!(max_min(&[], &[]), [] as [f64; 0]);
    }

    #[test]
    fn fair_is_within_a_part_of_what_is_due() {
        assert!(is_fair(&[9.0, 11.0], &[1.0, 1.0], 0.1));
        assert!(!is_fair(&[8.9, 11.1], &[1.0, 1.0], 0.1));
        assert!(is_fair(&[1.0, 5.0], &[10.0, 50.0], 0.0));
        assert!(!is_fair(&[0.0, 0.0], &[1.0, 1.0], 0.1), "nothing moved");
    }

    #[test]
    fn settling_is_for_good() {
        assert_eq!(settles_at(&[false, true, false, true, true], 1), Some(3));
        assert_eq!(settles_at(&[false, true, false, true, true], 3), None);
        assert_eq!(settles_at(&[true, true], 2), Some(0));
        assert_eq!(settles_at(&[true, false], 1), None);
        assert_eq!(settles_at(&[], 0), None);
    }
}
