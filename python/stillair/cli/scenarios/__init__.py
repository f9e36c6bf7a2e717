"""Lists, describes and checks scenarios, without running them: `stillair scenarios`, `schema` and `check`.

check    `stillair check`: the scenario with its defaults
framing  shapers whose framing differs from their line's
names    `stillair scenarios`: bundled scenarios; `stillair schema`: scenario keys
"""
