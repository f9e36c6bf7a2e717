"""Frequent questions, each answered by runs: scenario, verdict with intervals, and page.

Each question is a data file (`data/NAME.toml`).

    page       the page and its JSON
    answer     a question's runs and the verdict
    questions  the questions
"""
