"""`stillair compare`: results, scenarios or settings side by side, with what is different and how sure that is.

command    `stillair compare`
bisect     `stillair bisect`: which version of a kernel moved a figure
picture    bars with intervals
rendering  text, Markdown, JSON
versions   versions halved
rows       each quantity on every side
sides      what is compared
"""
