"""One small call of attention: query, key, value, and what goes into its backward."""

import numpy as np

INF, NAN = np.inf, np.nan
# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
QUERY, KEY, VALUE = np.ones((2, 5)), np.ones((3, 5)), np.ones((3, 4))
D_OUT, WEIGHTS = np.ones((2, 4)), np.ones((2, 3))
