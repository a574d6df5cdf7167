"""The site: built (`build.py`), served (`serve.py`), its links checked (`linkcheck.py`), packed (`pack.py`, with `start.py` in it)."""
