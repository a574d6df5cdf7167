"""What is fetched: the packages of the book (`install.py`), the graders, and the Python that runs in the pages."""
