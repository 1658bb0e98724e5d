use proptest::prelude::*;

use super::*;

/// Buys at a low price until the money is spent.
fn spend(budget: &mut Budget, params: &Params) {
    while budget.decide(Dollars::new(1.0), (1, 1), 0.0, params) == Decision::Buy {}
}

#[test]
fn a_blocked_client_that_bought_cheaply_is_paid_once_more_an_interval() {
    let params = Params::default();
    let mut budget = Budget::new(Time::ZERO, None, &params);
    for expected in [0.04762, 0.02439, 0.01639, 0.01235, 0.00990, 0.00826] {
        spend(&mut budget, &params);
        budget.pay(&params);
        assert!((budget.period().secs() - expected).abs() < 5e-6, "{:?}", budget.period());
    }
}

#[test]
fn a_blocked_client_that_bought_dearly_is_paid_half_as_often() {
    let params = Params { threshold: Dollars::new(10.0), ..Params::default() };
    let mut budget = Budget::new(Time::ZERO, None, &params);
    assert_eq!(budget.decide(Dollars::new(10.0), (1, 1), 0.0, &params), Decision::Buy);
    assert_eq!(budget.decide(Dollars::new(1.0), (1, 1), 0.0, &params), Decision::Blocked);
    budget.pay(&params);
    assert_eq!(budget.period(), Duration::from_secs(2));
    assert_eq!(budget.payday(), Time::ZERO + Duration::from_secs(3));
}

#[test]
fn a_salary_of_its_own_is_paid_each_time() {
    let params = Params::default();
    let mut budget = Budget::new(Time::ZERO, Some(Dollars::new(3.0)), &params);
    assert_eq!((budget.salary(), budget.money()), (Dollars::new(3.0), Dollars::new(3.0)));
    budget.pay(&params);
    assert_eq!(budget.money(), Dollars::new(6.0));
    budget.catch_up(budget.payday() + budget.period(), &params);
    assert_eq!(budget.money(), Dollars::new(12.0));
    let rich = Budget::new(Time::ZERO, Some(Dollars::new(30.0)), &params);
    assert_eq!(rich.money(), params.cap, "nobody holds more than the cap");
}

#[test]
fn a_client_that_was_not_blocked_or_bought_nothing_keeps_its_period() {
    let params = Params::default();
    let mut budget = Budget::new(Time::ZERO, None, &params);
    budget.decide(Dollars::new(3.0), (1, 1), 0.0, &params);
    budget.pay(&params);
    assert_eq!(budget.period(), params.first_period);
    budget.decide(Dollars::new(21.0), (1, 1), 0.0, &params);
    budget.pay(&params);
    assert_eq!(budget.period(), params.first_period);
}

#[test]
fn chance_sends_one_message_in_its_cost() {
    let params = Params { cap: Dollars::new(1e9), salary: Dollars::new(1e9), ..Params::default() };
    let mut budget = Budget::new(Time::ZERO, None, &params);
    let bought = |budget: &mut Budget, cost: f64, params: &Params| {
        let draws = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0);
        draws
            .filter(|u| budget.decide(Dollars::new(cost), (1, 1), *u, params) == Decision::Buy)
            .count()
    };
    assert_eq!(bought(&mut budget, 4.0, &params), 250);
    assert_eq!(bought(&mut budget, 1.0, &params), 1000);
    assert_eq!(bought(&mut budget, 0.5, &params), 1000);
    let certain = Params { randomise: false, ..params };
    assert_eq!(bought(&mut budget, 4.0, &certain), 1000);
}

proptest! {
    /// Spending never exceeds salaries, and no client holds more than the cap.
    #[test]
    fn money_is_neither_made_nor_hoarded(
        wishes in prop::collection::vec((0.0..25.0f64, 0.0..1.0f64, any::<bool>()), 1..200),
    ) {
        let params = Params::default();
        let mut budget = Budget::new(Time::ZERO, None, &params);
        let (mut paid, mut spent) = (params.salary.get(), 0.0);
        for (cost, draw, payday) in wishes {
            if payday {
                budget.pay(&params);
                paid += params.salary.get();
            }
            let before = budget.money();
            match budget.decide(Dollars::new(cost), (1, 1), draw, &params) {
                Decision::Buy => spent += cost,
                Decision::Wait => prop_assert!(cost > 1.0),
                Decision::Blocked => prop_assert!(cost > before.get()),
            }
            prop_assert!(budget.money() <= params.cap);
            prop_assert!(budget.money().get() <= paid - spent + 1e-6);
        }
    }
}

#[test]
fn a_large_message_is_sent_on_credit() {
    let params = Params { randomise: false, ..Params::default() };
    let mut budget = Budget::new(Time::ZERO, None, &params);
    let one = Dollars::new(1.0);
    assert_eq!(budget.decide(one, (100, 1), 0.0, &params), Decision::Buy);
    assert_eq!(budget.money(), Dollars::new(-90.0));
    let mut salaries = 0;
    while budget.decide(one, (1, 1), 0.0, &params) == Decision::Blocked {
        budget.pay(&params);
        salaries += 1;
    }
    assert_eq!(salaries, 10, "90 dollars and the next message's");
}
