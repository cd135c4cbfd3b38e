"""The engines of this package: what each must offer, the tables they give, the closed forms."""
