"""Findings, with the plots and tables beside them."""
