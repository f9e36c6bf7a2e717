"""Names and colours of the four schemes of *Ending the Anomaly*."""

from stillair_lab.papers.artefacts import style

SCHEMES = ("fifo", "fq_codel", "fq_mac", "airtime")
TITLES = {"fifo": "FIFO", "fq_codel": "FQ-CoDel", "fq_mac": "FQ-MAC", "airtime": "Airtime fair FQ"}
COLOURS = {"fifo": style.VERMILION, "fq_codel": style.ORANGE, "fq_mac": style.SKY, "airtime": style.BLUE}
