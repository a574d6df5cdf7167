"""Is the library tested well (`mutate.py`), and does the book say the same on an older processor (`plain_cpu.py`)?"""
