"""`stillair compare`: results, scenarios or settings side by side, with differences and their intervals.

command    `stillair compare`
bisect     `stillair bisect`: finds the kernel version that changed a figure
picture    bars with intervals
rendering  text, Markdown, JSON
versions   bisection over versions
rows       each quantity on every side
sides      the sides of a comparison
"""
