"""Is a gradient right? Compare it with slopes that are measured, not derived.

Read in this order:

1. `numerical`: finite differences and the complex step.
2. `noise`: how far a measured slope may be trusted.
3. `report`: the verdict, and what could tell where the numbers cannot.
4. `check`: the comparison, entry by entry, which says where the worst one is.
5. `direction`: the comparison along one random direction, for a large gradient.
"""

from attnlib.gradients.check import check_gradient
from attnlib.gradients.direction import check_direction
from attnlib.gradients.numerical import complex_step_gradient, numerical_gradient
from attnlib.gradients.report import GradientReport

__all__ = [
    "numerical_gradient",
    "complex_step_gradient",
    "check_gradient",
    "check_direction",
    "GradientReport",
]
