//! Coverage marks: a branch has a name, and a test that must reach it fails if it does not.
//!
//! `coverage_mark!("red.forced")` names a branch. A test begins with `let _reached = must_reach(["red.forced"]);` and panics at its
//! end unless the branch was reached in the meantime. Both are compiled with the feature `coverage-marks` only. Each thread has its own
//! record, so that a test sees only branches that it reached itself. `tests/coverage.rs` compares marks with tests.

use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    static REACHED: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// Records that this thread reached the mark called `name`; called by [`crate::coverage_mark`].
pub fn reach(name: &'static str) {
    REACHED.with_borrow_mut(|reached| reached.insert(name));
}

/// The marks that this thread reached, since it began or the last call of [`must_reach`].
pub fn reached() -> BTreeSet<&'static str> {
    REACHED.with_borrow(Clone::clone)
}

/// Asserts, when the returned value is dropped, that this thread reached every mark of `names` since the call.
///
/// # Panics
///
/// The drop panics with the names that were not reached, unless the thread panics already.
#[must_use = "the marks are compared when it is dropped: bind it to `_reached`, not to `_`"]
pub fn must_reach<const N: usize>(names: [&'static str; N]) -> MustReach<N> {
    REACHED.with_borrow_mut(|reached| reached.retain(|name| !names.contains(name)));
    MustReach { names }
}

/// The marks that a test must reach before this is dropped; made by [`must_reach`].
#[derive(Debug)]
pub struct MustReach<const N: usize> {
    names: [&'static str; N],
}

impl<const N: usize> Drop for MustReach<N> {
    fn drop(&mut self) {
        let reached = reached();
        let missing: Vec<_> = self.names.iter().filter(|name| !reached.contains(*name)).collect();
        assert!(std::thread::panicking() || missing.is_empty(), "the test no longer reaches {missing:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message of the panic of `test`, if it panics.
    fn failure(test: fn()) -> Option<String> {
        std::thread::spawn(test).join().err().map(|why| *why.downcast::<String>().unwrap_or_default())
    }

    #[test]
    fn a_test_that_reaches_its_marks_passes() {
        let _reached = must_reach(["law.a", "law.b"]);
        ["law.a", "law.c", "law.b"].into_iter().for_each(reach);
    }

    #[test]
    fn a_test_that_misses_a_mark_fails_with_its_name() {
        let failed = failure(|| {
            let _reached = must_reach(["law.a", "law.b"]);
            reach("law.b");
        });
        assert_eq!(failed.as_deref(), Some("the test no longer reaches [\"law.a\"]"));
    }

    #[test]
    fn marks_reached_before_or_by_another_thread_do_not_count() {
        let failed = failure(|| {
            reach("law.a");
            let _reached = must_reach(["law.a"]);
            std::thread::spawn(|| reach("law.a")).join().unwrap();
        });
        assert_eq!(failed.as_deref(), Some("the test no longer reaches [\"law.a\"]"));
    }

    #[test]
    fn an_earlier_failure_of_the_test_is_what_it_reports() {
        let failed = failure(|| {
            let _reached = must_reach(["law.a"]);
            std::panic::panic_any("earlier".to_owned());
        });
        assert_eq!(failed.as_deref(), Some("earlier"));
    }
}
