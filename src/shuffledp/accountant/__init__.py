"""Accountant of deployments: central eps, local budget and smallest batch, each with its guarantee."""

from typing import TYPE_CHECKING

from shuffledp.numerics.public_api import checked_door

if TYPE_CHECKING:
    from shuffledp.accountant.answers import Answer as Answer
    from shuffledp.accountant.deployed import (
        Deployment as Deployment,
        deployed_answer as deployed_answer,
        deployed_epsilon as deployed_epsilon,
        deployed_printed as deployed_printed,
        deployed_users as deployed_users,
        deployments as deployments,
    )
    from shuffledp.accountant.personalized import (
        PersonalizedAnswer as PersonalizedAnswer,
        personalized_answer as personalized_answer,
        personalized_delta as personalized_delta,
        personalized_epsilon as personalized_epsilon,
    )
    from shuffledp.accountant.questions import questions_epsilon as questions_epsilon
    from shuffledp.accountant.rounds import (
        Batch as Batch,
        RoundsAnswer as RoundsAnswer,
        rounds_epsilon as rounds_epsilon,
    )
    from shuffledp.accountant.shuffled_rounds import (
        amplification as amplification,
        budget as budget,
        calibrate_randomizer as calibrate_randomizer,
        randomizer_epsilon as randomizer_epsilon,
        smallest_batch as smallest_batch,
    )
    from shuffledp.accountant.tabulated_curves import Curves as Curves, curves as curves
else:
    __getattr__, __dir__ = checked_door(__name__)
