//! The hooks of a family of laws, listed once. A list is a macro with the signature, documentation and default of each
//! hook. It generates the trait that the laws implement ([`law_trait!`]) and the calls of the law in use
//! ([`dispatch!`]). A new hook needs an entry in the list, a call, and a law that implements it.
//!
//! `hot` and `required` hooks have no default, `provided` hooks have one; hooks under `more` are in the trait only.

/// Generates the trait of a list of hooks; `$head` is its declaration.
macro_rules! law_trait {
    (
        { $($head:tt)* }
        hot { $($(#[$note:meta])* fn $hot:ident $passed:tt $(-> $yields:ty)?;)* }
        required { $($(#[$about:meta])* fn $required:ident $given:tt $(-> $gives:ty)?;)* }
        provided { $($(#[$what:meta])* fn $provided:ident $taken:tt $(-> $returns:ty)? $default:block)* }
        more { $($more:tt)* }
    ) => {
        $($head)* {
            $($(#[$note])* fn $hot $passed $(-> $yields)?;)*
            $($(#[$about])* fn $required $given $(-> $gives)?;)*
            $($(#[$what])* fn $provided $taken $(-> $returns)? $default)*
            $($more)*
        }
    };
}
pub(crate) use law_trait;

/// Generates the calls of a list of hooks in the block that `$head` starts. `$of!(self, law => call)` evaluates the
/// call for the variant in use with a match instead of a virtual call. Calls of hot hooks are always inlined, those of
/// required hooks are `#[inline]`, and those of provided hooks if the list sets it.
macro_rules! dispatch {
    (
        { $($head:tt)* } $seen:vis $of:ident
        hot { $($(#[$note:meta])* fn $hot:ident $passed:tt $(-> $yields:ty)?;)* }
        required { $($(#[$about:meta])* fn $required:ident $given:tt $(-> $gives:ty)?;)* }
        provided { $($(#[$what:meta])* fn $provided:ident $taken:tt $(-> $returns:ty)? $default:block)* }
        more { $($more:tt)* }
    ) => {
        $($head)* {
            $($crate::hooks::forward! { $of #[inline(always)] $seen fn $hot $passed $(-> $yields)? })*
            $($crate::hooks::forward! { $of #[inline] $seen fn $required $given $(-> $gives)? })*
            $($crate::hooks::forward! { $of $(#[$what])* $seen fn $provided $taken $(-> $returns)? })*
        }
    };
}
pub(crate) use dispatch;

/// One call of [`dispatch!`]. `self` is passed as an argument: because of macro hygiene, a `self` of this macro would
/// be a different one.
macro_rules! forward {
    (
        $of:ident $(#[$about:meta])* $seen:vis
        fn $hook:ident(&mut $self:ident $(, $argument:ident: $type:ty)*) $(-> $returns:ty)?
    ) => {
        $(#[$about])*
        $seen fn $hook(&mut $self $(, $argument: $type)*) $(-> $returns)? {
            $of!($self, law => law.$hook($($argument),*))
        }
    };
    (
        $of:ident $(#[$about:meta])* $seen:vis
        fn $hook:ident(&$self:ident $(, $argument:ident: $type:ty)*) $(-> $returns:ty)?
    ) => {
        $(#[$about])*
        $seen fn $hook(&$self $(, $argument: $type)*) $(-> $returns)? {
            $of!($self, law => law.$hook($($argument),*))
        }
    };
}
pub(crate) use forward;
