"""What the figures of *Ending the Anomaly* have in common: the four schemes, their names and colours."""

from stillair_lab.papers.artefacts import style

SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")
TITLES = {"fifo": "FIFO", "fq_codel": "FQ-CoDel", "fq_mac": "FQ-MAC", "airtime": "Airtime fair FQ"}
COLOURS = {"fifo": style.VERMILION, "fq_codel": style.ORANGE, "fq_mac": style.SKY, "airtime": style.BLUE}
