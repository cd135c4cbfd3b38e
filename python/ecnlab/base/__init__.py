"""Common parts of all packages: errors, types of values, units, threads. It imports no other package of ecnlab."""
