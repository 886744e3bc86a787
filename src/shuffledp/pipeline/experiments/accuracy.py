"""Methods with a function and a training run: each cell has the function's value and a round's accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

from shuffledp.pipeline.experiments.cell_work import Row, value_row
from shuffledp.pipeline.experiments.computed import Computed
from shuffledp.pipeline.experiments.job_parts import TrainingPart
from shuffledp.pipeline.experiments.trained import Trained, TrainingFiles, curve_name, read


class WithTraining(Computed):
    """Evaluation of a function, with the accuracy at the cell's round if a model is trained."""

    @property
    def _training(self) -> TrainingPart:
        return cast("TrainingPart", self.job.training)

    @cached_property
    def _trained(self) -> list[Trained]:
        training = self._training
        if training["left_out"]:
            return []
        if self.results is None:
            raise ValueError(
                f"{self.job.name}: training is read from the folder of results, which is not given."
            )
        names = [curve_name(training["run"], repeat) for repeat in range(training["seeds"])]
        return [read(TrainingFiles.locate(self.results, self.job.paper, name)) for name in names]

    def cell(
        self, point: Mapping[str, Any], accounting: str, resolved: Mapping[str, Any]
    ) -> tuple[Row, list[Row]]:
        """Return the function's value and the accuracy with each seed."""
        labels, rows = super().cell(point, accounting, resolved)
        if not self._trained:
            return labels, rows
        number = point[str(self._training["round"])]
        rows += [
            value_row("accuracy", "simulated", curve.accuracy[number], repeat)
            for repeat, curve in enumerate(self._trained)
        ]
        first = self._trained[0]
        return {**labels, "dataset": first.data, "data_source": first.data_source}, rows

    @property
    def data(self) -> tuple[str, str]:
        """Source and note of the training run's data; ``"none"`` and the reason without training."""
        if self._trained:
            return self._trained[0].data_source, self._trained[0].note
        return "none", f"Training is left out ({self._training['left_out']}): there is no accuracy."


work = WithTraining
