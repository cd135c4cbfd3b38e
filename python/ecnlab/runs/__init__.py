"""Runs and sweeps: done by an engine, stored in a folder, loaded from it."""
