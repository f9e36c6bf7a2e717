"""Names and colours of the two variants of the paper on bursty QUIC."""

from stillair_lab.papers.artefacts import style

TITLES = {"quic": "QUIC", "bquic": "BQUIC"}
COLOURS = {"quic": style.BLUE, "bquic": style.ORANGE}
