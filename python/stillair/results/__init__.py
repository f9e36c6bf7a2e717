"""Results: summaries, series of 0.2 s steps, samples, statistics over runs, and exports.

result         measurements of a scenario's runs
summary        results as text
result_folder  reads result folders
flent          Flent data files
sampled        samples that `[record]` enables
tidy           one table of all series
qlog           QUIC flows in qlog format, for qvis
exchanges      every exchange on the air
sojourn        packet delay by layer and cause
series         values in steps of 0.2 s
frame          columnar tables for Arrow readers
report         a run's report, key by key
statistics     means and intervals over runs
"""
