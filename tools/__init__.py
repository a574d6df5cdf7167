"""The commands behind `make`, and what they need; `python -m tools.<folder>.<file>` runs one.

* `installing`: make the environment, fetch the graders, fetch the Python for the pages
* `notebooks`: run, format and check the notebooks; compare outputs as a reader would; JupyterLab; the paths for teachers
* `site`: build and serve the site, check its links, pack it into a zip file
* `printing`: print the book into one PDF, and compare it with the site
* `recorded`: what is made once and stored with the chapters: answers of other libraries, trained models, a drawing
* `browser`: open pages in Chromium, probe and photograph them
* `testing`: break the library on purpose; compute as an older processor does
* `live_gate`: ask the pages' own Python what it says
"""
