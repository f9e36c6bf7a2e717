"""Questions that people ask in public, each answered by runs: a scenario set, a verdict with intervals, a page.

What is known of an answer is a file of data (`data/NAME.toml`); a further answer is a further file.

    page     the page and what is kept of it
    answer   a question's runs, and the verdict
    questions  the questions
"""
