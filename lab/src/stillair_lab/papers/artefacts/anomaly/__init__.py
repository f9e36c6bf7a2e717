"""The figures and tables of *Ending the Anomaly*.

latency     Figures 1 and 4
thirty      Figures 9 and 10
airtime     Figures 5 and 6
headline    the abstract
sparse      Figure 8
table1      Table 1
table2      Table 2
throughput  Figure 7
web         Figure 11
replies     ping under load
schemes     names and colours of the four schemes
"""
