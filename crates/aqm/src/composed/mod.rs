//! Disciplines made of several queues: classes, fair queueing and shapers.

pub mod cake;
pub mod cbq;
pub mod classes;
pub mod fq;
pub mod fq_codel;
pub mod fq_pie;
pub mod htb;
pub(crate) mod members;
pub(crate) mod sharing;
pub mod tbf;

/// Registry rows of composed disciplines: the name in scenarios, module and type. `$next!` receives them after
/// `$before`.
macro_rules! composed_laws {
    ($next:ident $(, $rest:ident)*; $($before:tt)*) => {
        $next! { $($rest),*; $($before)* composed {
            "classes": classes::Classes;
            "fq": fq::Fq;
            "fq_codel": fq_codel::FqCodel;
            "fq_pie": fq_pie::FqPie;
            "tbf": tbf::Tbf;
            "htb": htb::Htb;
            "cbq": cbq::Cbq;
            "cake": cake::Cake;
        } }
    };
}
pub(crate) use composed_laws;
