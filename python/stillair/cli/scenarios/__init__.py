"""What there is to run, without running it: `stillair scenarios`, `schema` and `check`.

check       `stillair check`: what a scenario comes to
framing     shapers that count another framing than their line adds
names       `stillair scenarios`: what runs by name; `stillair schema`: what a scenario may say
"""
