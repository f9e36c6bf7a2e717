"""Beside the real thing: real hosts at a scenario's ends, and measurements of real kernels.

live      `stillair live`, `exec`, `set`, `ps`, `agree`
validate  `stillair validate`
"""
