"""The engines of this package: their common interface, the tables they return, the closed forms."""
