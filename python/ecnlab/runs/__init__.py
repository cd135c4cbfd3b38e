"""How runs and sweeps are done: by an engine, in processes of this machine or on a cluster, into a folder."""
