//! Laws across inner queues: they judge the packets of several queues by the state of all of them.

pub mod dualpi2;
pub mod gred;
pub mod pi2;
pub mod sfb;
