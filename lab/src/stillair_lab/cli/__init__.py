"""Commands that the package adds to `stillair`.

paper     `stillair paper`
validate  `stillair validate`
"""
