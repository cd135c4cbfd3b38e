//! Queue disciplines for one FIFO.

pub mod avq;
pub mod blue;
pub mod choke;
pub mod cobalt;
pub mod codel;
pub mod docsis_pie;
pub mod droptail;
pub mod gsp;
pub mod pi;
pub mod pie;
pub mod policer;
pub mod red;
pub mod rem;
pub mod step;
pub mod user_defined;

/// Registry rows of laws for one FIFO: the name in scenarios, module and type. `$next!` receives them after `$before`.
macro_rules! fifo_laws {
    ($next:ident $(, $rest:ident)*; $($before:tt)*) => {
        $next! { $($rest),*; $($before)* laws {
            "droptail": droptail::DropTail;
            "red": red::Red;
            "codel": codel::Codel;
            "pie": pie::Pie;
            "docsis_pie": docsis_pie::DocsisPie;
            "step": step::Step;
            "pi": pi::Pi;
            "rem": rem::Rem;
            "blue": blue::Blue;
            "avq": avq::Avq;
            "choke": choke::Choke;
            "gsp": gsp::Gsp;
            "cobalt": cobalt::Cobalt;
            "policer": policer::Policer;
            "user-defined": user_defined::UserDefined;
        } }
    };
}
pub(crate) use fifo_laws;
