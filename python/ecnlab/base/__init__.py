"""What every other package uses: errors, types of values, units, threads. It imports no other package of ecnlab."""
