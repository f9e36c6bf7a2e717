"""Real hosts as a scenario's endpoints, and real kernels.

live    `stillair live`, `crosscheck`
kernel  `stillair kernel`: builds, lists and removes kernels
"""
