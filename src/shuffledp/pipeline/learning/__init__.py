"""Training for the two learning experiments: private gradient descent with shuffled reports, and shuffled check-in.

JAX is an optional extra. Plans, data and curves can be created, checked and read without JAX; import
`shuffledp.pipeline.learning.training.train` only if `available` is true.

The noise is simulated: floating-point normal numbers of a seeded generator, which show the accuracy of a mechanism but
protect no user's data.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.pipeline.learning.checkpoint import CheckpointError as CheckpointError
    from shuffledp.pipeline.learning.curve import (
        Point as Point,
        Progress as Progress,
        TrainingCurve as TrainingCurve,
    )
    from shuffledp.pipeline.learning.data import LearningData as LearningData, learning_data as learning_data
    from shuffledp.pipeline.learning.installed import available as available
    from shuffledp.pipeline.learning.plan import Network as Network, TrainingPlan as TrainingPlan
else:
    __getattr__, __dir__ = door(__name__)
