"""Calibration of the power models against measurements, and what is published of their error."""
