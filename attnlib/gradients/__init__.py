"""Is a gradient right? Compare it with slopes that are measured, not derived.

Read in this order:

1. `numerical`: finite differences and the complex step.
2. `noise`: how far a measured slope may be trusted.
3. `check`: the comparison, and a verdict that says where the worst entry is.
"""

from attnlib.gradients.check import GradientReport, check_direction, check_gradient
from attnlib.gradients.numerical import complex_step_gradient, numerical_gradient

__all__ = [
    "numerical_gradient",
    "complex_step_gradient",
    "check_gradient",
    "check_direction",
    "GradientReport",
]
