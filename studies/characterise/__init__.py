"""Measuring what workload kernels do on gem5's detailed cores; see `measure`."""
