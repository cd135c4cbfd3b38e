//! Laws across inner queues: their decisions depend on the state of several queues.

pub mod dualpi2;
pub mod gred;
pub mod pi2;
pub mod sfb;

/// Registry rows of laws across inner queues: the name in scenarios, module and type. `$next!` receives them after
/// `$before`.
macro_rules! across_laws {
    ($next:ident $(, $rest:ident)*; $($before:tt)*) => {
        $next! { $($rest),*; $($before)* across {
            "dualpi2": dualpi2::DualPi2;
            "pi2": pi2::Pi2;
            "sfb": sfb::Sfb;
            "gred": gred::Gred;
        } }
    };
}
pub(crate) use across_laws;
