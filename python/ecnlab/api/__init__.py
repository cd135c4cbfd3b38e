"""Results as users get them: `Run` and `Sweep` with their figures and reports, and `load`."""
