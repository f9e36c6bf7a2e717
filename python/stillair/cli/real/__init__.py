"""Real hosts at a scenario's ends, and real kernels.

live    `stillair live`, `crosscheck`
kernel  `stillair kernel`: real kernels built, listed, removed
"""
