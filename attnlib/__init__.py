"""attnlib: attention and its gradients in NumPy, small enough to read.

Every function names its array axes with the same letters, here, in the error
messages, in the chapters and in the figures:

=========  ==================================================
``b``      batch element
``h``      head
``q``      query position
``k``      key position
``d``      feature of a query or a key
``v``      feature of a value
``m``      feature of the model (the width of a token)
``n``      position, where queries and keys share one sequence
``...``    any number of leading axes, also none
=========  ==================================================

The gradient of the loss with respect to ``x`` is called ``d_x`` and has the
shape of ``x``. Nothing is re-exported here: ``from attnlib.softmax import
softmax`` tells you which room (a folder) to open. The first lines of a room say
what each of its files holds, in the order in which to read.
"""

__version__ = "0.1.0"
