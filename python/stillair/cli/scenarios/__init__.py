"""What there is to run, without running it: `stillair scenarios`, `schema` and `check`.

check       `stillair check`: what a scenario comes to
names       `stillair scenarios`: what runs by name; `stillair schema`: what a scenario may say
"""
