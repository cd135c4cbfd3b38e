//! Macros that generate the trait of a kind of law, and its dispatch, from one list of hooks.

/// The hooks as a trait declares them.
macro_rules! declare {
    ($($hooks:tt)*) => { $($hooks)* };
}
pub(crate) use declare;

/// The hooks of an enum of laws: each calls that of the law in use, which `$of!` finds by a match on the variant. A virtual
/// call would cost the hot path its inlining.
macro_rules! dispatch {
    ($of:ident) => {};
    ($of:ident $(#[$attribute:meta])*
     fn $hook:ident(&mut $self:ident $(, $argument:ident: $type:ty)*) $(-> $return:ty)? $default:block $($rest:tt)*) => {
        $(#[$attribute])*
        fn $hook(&mut $self $(, $argument: $type)*) $(-> $return)? { $of!($self, law => law.$hook($($argument),*)) }
        dispatch! { $of $($rest)* }
    };
    ($of:ident $(#[$attribute:meta])*
     fn $hook:ident(&$self:ident $(, $argument:ident: $type:ty)*) $(-> $return:ty)? $default:block $($rest:tt)*) => {
        $(#[$attribute])*
        fn $hook(&$self $(, $argument: $type)*) $(-> $return)? { $of!($self, law => law.$hook($($argument),*)) }
        dispatch! { $of $($rest)* }
    };
}
pub(crate) use dispatch;
