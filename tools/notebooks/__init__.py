"""The notebooks of the book: run, formatted and checked (`python -m tools.notebooks`), and their outputs compared."""
