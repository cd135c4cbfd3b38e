//! Laws across inner queues: they judge the packets of several queues by the state of all of them.

pub mod dualpi2;
pub mod gred;
pub mod pi2;
pub mod sfb;

/// The rows of laws across inner queues: the name in scenarios, module and type. `$next!` gets them behind `$before`.
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
