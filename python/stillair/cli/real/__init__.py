"""Beside the real thing: real hosts at a scenario's ends, and measurements of real kernels.

live      `stillair live`, `crosscheck`
kernel    `stillair kernel`: real kernels built, listed, removed
validate  `stillair validate`
"""
