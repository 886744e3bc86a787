"""The grammar of the configuration: keys and values of each concept, and their descriptions in captions.

Parts of an experiment may have grid variables (``$name``) in place of values. Pydantic checks such a value at every
value of its variable, once, if the context of the validation has the grid.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler as Check,
    WithJsonSchema,
    WrapValidator,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema

from shuffledp.pipeline.config.config_errors import (
    GRID,
    explained,
    format_value,
    mistake,
    one_of,
    unknown,
    wrong_key,
)
from shuffledp.pipeline.datasets.registry import NAMES
from shuffledp.pipeline.experiments.bundle import RESERVED
from shuffledp.pipeline.experiments.grid import is_variable, resolve, variables
from shuffledp.pipeline.experiments.job_parts import LAWS
from shuffledp.pipeline.experiments.seeds import canonical_json
from shuffledp.pipeline.experiments.sources import COLUMNS, OWN
from shuffledp.pipeline.experiments.training_jobs import IMAGES, Rounds
from shuffledp.pipeline.learning.plan import ACTIVATIONS, DECAYS, KINDS, POOLINGS
from shuffledp.tasks import TASK_KINDS, TASKS

#: Text of a value in a caption; the value may be a list or a grid variable.
Say = Callable[[Any], str]
#: Required keys and known keys of a mapping.
Keys = tuple[Collection[str], Collection[str]]


class Concept(BaseModel):
    """Base class of mappings with known keys; each value of the key ``by`` may have keys of its own.

    An unknown or missing key is reported before any other error.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    by: ClassVar[str] = ""
    kinds: ClassVar[Mapping[str, Keys]] = {}

    @classmethod
    def keys_of(cls, value: Mapping[str, Any]) -> Keys:
        """Return the required and the known keys of a mapping."""
        fields = cls.model_fields
        needed = [key for key, about in fields.items() if about.is_required()]
        kind = value.get(cls.by, fields[cls.by].default) if cls.kinds else None
        selectors = (cls.by,) if cls.kinds else ()
        required, keys = cls.kinds[kind] if kind in list(cls.kinds) else (selectors, fields)
        return [*needed, *required], {*keys, *needed, *selectors}

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise mistake(f"must be a mapping, got {format_value(value)}.")
        if wrong := wrong_key(value, *cls.keys_of(value)):
            raise mistake(wrong)
        return value

    def plain(self) -> dict[str, Any]:
        """Return the mapping as the file has it."""
        return {key: _plain(value) for key, value in self if key in self.model_fields_set}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value.plain() if isinstance(value, Concept) else value


# -- leaves ------------------------------------------------------------------------------------------------------


def absent() -> Any:
    """Return the default of an optional key; an explicit null is an error."""
    return Field(default=None)


def _distinct(values: Any) -> Any:
    told_apart = [(isinstance(value, bool), value) for value in values]  # true is not 1
    try:
        twice = len(set(told_apart)) < len(told_apart)
    except TypeError:  # a list or a mapping among them, where there are few
        twice = any(value in told_apart[:i] for i, value in enumerate(told_apart))
    if twice:
        raise mistake(f"has a value twice: {format_value(values)}.")
    return values


def _among(names: Sequence[str]) -> BeforeValidator:
    def check(value: Any) -> Any:
        if value not in names:
            raise mistake(one_of(value, list(names)))
        return value

    return BeforeValidator(check, json_schema_input_type=Literal[tuple(names)])


def _grid_value(value: Any) -> Any:
    if not isinstance(value, int | float | str):
        raise mistake(f"must be a number or text or true or false, got {format_value(value)}.")
    beyond = isinstance(value, int) and abs(value) > 10**300
    if beyond or (isinstance(value, float) and not math.isfinite(value)):
        raise mistake(f"must be a finite number of at most 10^300, got {format_value(value)}.")
    return value


def _no_column(grid: Any) -> Any:
    for name in grid:
        if name in RESERVED:
            raise mistake(f"{format_value(name)} is a column of every result; choose another name.")
    return grid


_GRID_VALUES = {
    "anyOf": [
        {
            "type": "array",
            "minItems": 1,
            "uniqueItems": True,
            "items": {"type": ["number", "string", "boolean"]},
        },
        {
            "type": "object",
            "description": "The evaluated rounds of a run of the section `training`.",
            "properties": {"evaluated": {"type": "string"}},
            "required": ["evaluated"],
            "additionalProperties": False,
        },
    ]
}
Number = Annotated[StrictFloat, Field(allow_inf_nan=False)]  # whole numbers too
Positive = Annotated[Number, Field(gt=0)]
NotNegative = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
OpenShare = Annotated[Number, Field(gt=0, lt=1)]
Count = Annotated[StrictInt, Field(ge=1)]
Repeats = Annotated[StrictInt, Field(ge=1, le=1_000_000)]
UserCount = Annotated[StrictInt, Field(ge=1, le=1_000_000_000_000)]
UserMean = Annotated[Number, Field(ge=0, le=1e12)]
Nats = Annotated[Number, Field(gt=0, le=700)]  # e^eps is still a number
CountOrZero = Annotated[StrictInt, Field(ge=0)]
Text = Annotated[StrictStr, Field(min_length=1)]
Id = Annotated[StrictStr, Field(pattern="^[a-z0-9_]+$")]
Quantity = Annotated[StrictStr, Field(pattern=r"^(parameters\.)?[a-z0-9_]+$")]
Caption = Annotated[StrictStr, Field(pattern=r"^[a-z0-9_]+\.rst$")]
Target = Annotated[StrictStr, Field(pattern=r"^[a-z0-9_]+\.(training\.)?[a-z0-9_]+$")]
DrawingName = Annotated[StrictStr, Field(pattern=r"^[a-z0-9_]+\.[a-z0-9_]+$")]
T = TypeVar("T")
Distinct = Annotated[
    list[T], Field(min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(_distinct)
]
Some = Annotated[Mapping[Id, T], Field(min_length=1)]
Accounting = Literal["printed", "simplified", "corrected", "exact"]
GridValue = Annotated[
    Any, AfterValidator(_grid_value), WithJsonSchema({"type": ["number", "string", "boolean"]})
]
Grid = Annotated[
    dict[Id, Annotated[Distinct[GridValue], WithJsonSchema(_GRID_VALUES)]], AfterValidator(_no_column)
]
Places = Annotated[dict[Id, Distinct[GridValue]], Field(min_length=1)]


def _number_or_list(value: Any) -> str:
    return "list" if isinstance(value, list) else "number"


#: One budget, or a list of budgets, one per privacy level.
Eps = Annotated[
    Annotated[list[Nats], Field(min_length=1), Tag("list")] | Annotated[Nats, Tag("number")],
    Discriminator(_number_or_list),
]


# -- values at the points of a grid --------------------------------------------------------------------------------

VARIABLE = {"type": "string", "pattern": r"^\$[a-z0-9_]+$", "description": "A variable of the grid."}


def _find_grid_values(names: set[str], info: ValidationInfo) -> dict[str, dict[int, Any]]:
    """Return the values of these variables by index, none without a grid. Raise an error for an unknown variable."""
    grid = (info.context or {}).get("grid")
    if grid is None:
        return {}
    for name in sorted(names - set(grid)):
        raise mistake(unknown(f"${name}", [f"${other}" for other in grid], f"${name} is not a grid variable"))
    return {name: grid[name] for name in sorted(names)}


def _check_variables(value: Any, handler: Check, info: ValidationInfo) -> Any:
    checked_value = handler(value)
    _find_grid_values(variables(value), info)
    return checked_value


def _check_at_grid_values(value: Any, handler: Check, info: ValidationInfo) -> Any:
    """Check a value at each value of one variable at a time; return it as the file has it, and a mapping's object."""
    names = variables(value)
    if isinstance(value, Mapping):
        return handler(value)
    if not names:
        handler(value)
    grid = _find_grid_values(names, info)
    first = {name: values[0] for name, values in grid.items()}
    for name, values in grid.items():
        for index, grid_value in values.items():
            _check_at(value, first | {name: grid_value}, name, index, handler, info)
    return value


def _check_at(
    value: Any, point: Mapping[str, Any], name: str, index: int, handler: Check, info: ValidationInfo
) -> None:
    try:
        handler(resolve(value, point))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["input"] != point[name]:  # another value of a list
            raise
        depth = (info.context or {})["depth"]
        raise mistake(explained(first), GRID, variable=name, index=index, depth=depth) from None


def _permit_variable(part: Any) -> Any:
    """Return the JSON schema of a value or, in its place, a grid variable."""
    if "items" in part:
        return {**part, "items": _permit_variable(part["items"])}
    for key in {"anyOf", "oneOf"} & set(part):
        branches = [_permit_variable(branch) if "items" in branch else branch for branch in part[key]]
        return {**{k: v for k, v in part.items() if k != key}, "anyOf": [*branches, VARIABLE]}
    if part.get("type") in ("object", "array") or "$ref" in part:
        return part
    about = {key: part[key] for key in ("title", "description", "default") if key in part}
    return {**about, "anyOf": [{k: v for k, v in part.items() if k not in about}, VARIABLE]}


class Part(Concept):
    """Part of an experiment, whose values may be grid variables."""

    columns: ClassVar[Mapping[str, Sequence[str]]] = {}

    @field_validator("*", mode="wrap")
    @classmethod
    def _check_values(cls, value: Any, handler: Check, info: ValidationInfo) -> Any:
        return handler(value) if info.field_name == cls.by else _check_at_grid_values(value, handler, info)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        core_schema = handler(core)
        schema = handler.resolve_ref_schema(core_schema)
        schema["properties"] = {key: _permit_variable(part) for key, part in schema["properties"].items()}
        for kind, (needed, keys) in cls.kinds.items():
            allowed: dict[str, Any] = {
                "required": list(needed),
                "propertyNames": {"enum": sorted({*keys, cls.by})},
            }
            if kind in cls.columns:
                allowed["properties"] = {"column": _permit_variable({"enum": list(cls.columns[kind])})}
            chosen = {"properties": {cls.by: {"const": kind}}, "required": [cls.by]}
            schema.setdefault("allOf", []).append({"if": chosen, "then": allowed})
        return core_schema


def _list_arguments(build: Callable[..., Any], *others: str, first_name: str = "") -> Keys:
    parameters = inspect.signature(build).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty and p.name != first_name]
    return needed, [*(p.name for p in parameters), *others]


# -- participants --------------------------------------------------------------------------------------------------


class Population(Part):
    """Participants: the number ``users``, or user 1 and others by a ``law``, with the arguments of the law's class.

    The classes are in `shuffledp.populations`. Other laws than ``sub_gaussian``, ``sub_exponential`` and
    ``moment_bounded``, which are bounds on the number of others, can be sampled.
    """

    by: ClassVar[str] = "law"
    kinds: ClassVar[Mapping[str, Keys]] = {name: _list_arguments(law) for name, law in LAWS.items()}

    law: Annotated[str, _among(tuple(LAWS))] = absent()
    users: UserCount = absent()
    trials: UserCount = absent()
    rate: Share = absent()
    mean: UserMean = absent()
    pmf: Annotated[list[Share], Field(min_length=1)] = absent()
    start: CountOrZero = absent()
    scale: NotNegative = absent()
    convention: Literal["variance_proxy", "printed"] = absent()
    a: Positive = absent()
    b: Positive = absent()
    variance: NotNegative = absent()

    @classmethod
    def keys_of(cls, value: Mapping[str, Any]) -> Keys:
        """Return ``users`` alone, or the keys of the law."""
        return ((), ("users",)) if "users" in value else super().keys_of(value)

    def described(self, say: Say) -> str:
        """Return the description for captions."""
        if self.law is None:
            return say(self.users)
        parameters = ", ".join(f"{key} {say(value)}" for key, value in self.plain().items() if key != "law")
        return f"1 + {self.law} ({parameters})"


class Budget(Part):
    """Privacy budget: eps in nats, and delta or delta times the expected number of participants."""

    eps: Eps = absent()
    delta: OpenShare = absent()
    delta_times_users: Positive = absent()
    neighbours: Literal["replace_one", "add_remove"] = "replace_one"

    def described(self, say: Say) -> dict[str, str]:
        """Return the descriptions of eps and delta for captions."""
        facts = {} if self.eps is None else {"eps": f"{say(self.eps)} nats"}
        if self.delta is not None:
            facts["delta"] = say(self.delta)
        if self.delta_times_users is not None:
            facts["delta"] = f"{say(self.delta_times_users)} / N"
        return facts


# -- tasks and data ------------------------------------------------------------------------------------------------


def _known_metrics(metrics: list[str], info: ValidationInfo) -> list[str]:
    kind = info.data.get("kind")
    for metric in metrics:
        if kind and metric not in TASKS[kind].metrics:
            metric_names = ", ".join(TASKS[kind].metrics)
            raise mistake(f"{format_value(metric)} is not a metric of a {kind} task. Known: {metric_names}.")
    return metrics


class Task(Part):
    """Estimated quantity; the keys of a kind are the arguments of its class in `shuffledp.tasks`."""

    by: ClassVar[str] = "kind"
    kinds: ClassVar[Mapping[str, Keys]] = {  # a file of the user may determine the domain
        kind: _list_arguments(task, "truth", "metrics", first_name="domain_size")
        for kind, task in TASKS.items()
    }

    kind: Annotated[str, _among(TASK_KINDS)]
    domain_size: Annotated[StrictInt, Field(ge=2)] = absent()
    max_value: Count = absent()
    signed: StrictBool = False
    real: StrictBool = False
    coordinates: Count = absent()
    set_size: Count = absent()
    levels: Count = absent()
    padding_items: CountOrZero = absent()
    dimension: Count = absent()
    clip: Positive = absent()
    norm: Literal["l1", "l2"] = absent()
    truth: Literal["participants", "population"] = "participants"
    metrics: Annotated[Distinct[Text], AfterValidator(_known_metrics)] = absent()

    def described(self) -> str:
        """Return the reference values of the errors, for captions."""
        return "the participants' own values" if self.truth == "participants" else "the population's values"


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise mistake(f"must be text, got {format_value(value)}: put it in quotes, as in the data file.")
    return value


OwnValue = Annotated[StrictStr | StrictInt | StrictFloat, BeforeValidator(_no_truth)]
_DRAWN = ("split", "padding", "draw")
_PLACE = ("column", "separator", "user", "item", "per_user", "delimiter", "values", "low", "high")


def _known_column(column: str, info: ValidationInfo) -> str:
    columns = COLUMNS.get(info.data.get("name", ""), (column,))
    if column not in columns:
        raise mistake(one_of(column, columns))
    return column


#: Required and known keys of data by name.
DATA: Mapping[str, Keys] = {
    **dict.fromkeys(NAMES, (("column",), ("column", *_DRAWN))),
    OWN: ((), ("path", "counts", *_PLACE, *_DRAWN)),
    "categorical": (("weights",), ("weights",)),
    "zipf": (("exponent",), ("exponent", "records")),
    "heavy": (("share",), ("share", "records")),
    "axes": ((), ()),
    "uniform": ((), ("records", "split")),
}


class Data(Part):
    """Data of the participants: a column of a published data set, a file of the user, or synthetic records.

    Synthetic records are ``uniform``, ``categorical`` with ``weights``, or by Zipf's law: the frequency of a value is
    its rank to the power of minus ``exponent``. In ``heavy`` records one value has a ``share``, and all others are
    equally likely. ``axes`` are unit vectors along the axes, in both directions. A file has the keys that
    `shuffledp.pipeline.experiments.sources.user_file` lists by kind of task.
    """

    by: ClassVar[str] = "name"
    kinds: ClassVar[Mapping[str, Keys]] = DATA
    columns: ClassVar[Mapping[str, Sequence[str]]] = COLUMNS

    name: Annotated[str, _among(tuple(DATA))]
    column: Annotated[StrictStr, AfterValidator(_known_column)] = absent()
    records: Count = absent()
    exponent: Positive = absent()
    share: OpenShare = absent()
    weights: Annotated[list[NotNegative], Field(min_length=2)] = absent()
    path: Text = absent()
    counts: Text = absent()
    user: Text = absent()
    item: Text = absent()
    separator: StrictStr = absent()
    per_user: Literal["random", "first", "sum"] = absent()
    delimiter: Text = absent()
    values: Annotated[
        list[OwnValue],
        Field(min_length=2, json_schema_extra={"uniqueItems": True}),
        AfterValidator(_distinct),
    ] = absent()
    low: Number = absent()
    high: Number = absent()
    split: StrictStr = absent()
    padding: Literal["categories", "tokens"] = absent()
    draw: Literal["with_replacement", "without_replacement"] = "without_replacement"

    def described(self, say: Say) -> str:
        """Return the description for captions."""
        if self.name == "zipf":
            return f"Zipf's law, exponent {say(self.exponent)}"
        if self.name == "heavy":
            return f"one value held by a share {say(self.share)} of the users, the others evenly"
        if self.name == "axes":
            return "unit vectors along the axes, either way, all equally likely"
        if self.name != OWN:
            return self.name if self.column is None else f"{self.name}, {self.column}"
        paths = say(self.path or self.counts).split(", ")
        columns = [say(value) for value in (self.column, self.user, self.item) if value is not None]
        ends = ["the task's" if end is None else say(end) for end in (self.low, self.high)]
        clip = [f"clipped to {ends[0]} .. {ends[1]}"] if {"low", "high"} & self.model_fields_set else []
        return ", ".join([*(path.rpartition("/")[2] for path in paths), *columns, *clip])


# -- methods and experiments -----------------------------------------------------------------------------------------


class Arguments(Part):
    """Arguments of a function; four common ones are checked here, others by the function."""

    model_config = ConfigDict(extra="allow")

    population: Population = absent()
    eps_local: Nats = absent()
    eps_central: Nats = absent()
    delta: OpenShare = absent()

    @classmethod
    def keys_of(cls, value: Mapping[str, Any]) -> Keys:
        """Return the keys that are there: any argument may be."""
        return (), value


def _numbers_of_json(value: Any) -> Any:
    try:
        canonical_json(value)
    except ValueError:
        raise mistake(f"must have finite numbers, got {format_value(value)}.") from None
    return value


#: Options of a protocol, which its class checks.
Options = Annotated[dict[str, Any], AfterValidator(_numbers_of_json), WrapValidator(_check_variables)]


class Method(Concept):
    """A method of an experiment: a protocol, or a function of the accounting."""

    protocol: Text = absent()
    function: Text = absent()
    label: Text = absent()
    options: Options = {}
    arguments: Annotated[Arguments, WrapValidator(_check_variables)] = absent()
    returns: Id = "value"
    training: Id = absent()
    budget: Budget = absent()
    accounting: Distinct[Accounting] = absent()

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if self.function and self.protocol:
            raise mistake("give either protocol or function, not both.")
        others = ("options", "budget") if self.function else ("arguments", "returns", "training")
        for key in others:
            if key in self.model_fields_set:
                kind = "protocol" if self.function else "function"
                raise mistake(f"{format_value(key)} belongs to a method with a {kind}.")
        return self


class Ranked(Concept):
    """Name of the task in the ranking of all protocols, and the ranked cells."""

    task: Text
    where: dict[Id, GridValue] = {}


class Experiment(Concept):
    """A grid of cells and the methods that are computed on it.

    ``simulated_at``, ``spent_at`` and ``profile_at`` select cells by values of grid variables. Only these cells have a
    simulation, the spent eps, or delta at many eps. The protocols of experiments with ``ranked`` are in the ranking.
    """

    source: Text = ""
    grid: Grid
    methods: Some[Method]
    task: Task = absent()
    data: Data = absent()
    population: Population = absent()
    budget: Budget = absent()
    accounting: Distinct[Accounting] = ["printed"]
    repeats: Repeats = 1
    simulated_at: Places = {}
    spent_at: Places = {}
    profile_at: Places = {}
    ranked: Ranked = absent()
    assumed: dict[str, Text] = {}

    @model_validator(mode="before")
    @classmethod
    def _open_grid(cls, value: Any, info: ValidationInfo) -> Any:
        """Let the parts see the grid: all values of a variable, or the first and the last round of a training run."""
        if info.context is not None:
            grid = value.get("grid") if isinstance(value, Mapping) else None
            info.context["grid"] = grid_values(grid) if isinstance(grid, Mapping) else None
        return value


def grid_values(grid: Mapping[str, Any]) -> dict[str, dict[int, Any]] | None:
    """Return the values to check of each variable by index: all values, and the ends of `Rounds`; None if malformed."""
    if not all(isinstance(values, list) and values for values in grid.values()):
        return None
    return {
        name: {0: values[0], len(values) - 1: values[-1]}
        if isinstance(values, Rounds)
        else dict(enumerate(values))
        for name, values in grid.items()
    }


# -- training ------------------------------------------------------------------------------------------------------


class TrainingData(Concept):
    """Training data of a run."""

    name: Annotated[str, _among(tuple(IMAGES))]


class Network(Concept):
    """Variants of the network."""

    pooling: Annotated[str, _among(POOLINGS)] = absent()
    activation: Annotated[str, _among(ACTIVATIONS)] = absent()


class TrainingRun(Concept):
    """Settings of a training run, and its number of seeds; `shuffledp.pipeline.learning.TrainingPlan` lists them."""

    kind: Annotated[str, _among(KINDS)]
    data: TrainingData
    batch: Count = absent()
    rate: OpenShare = absent()
    learning_rate: Positive
    clip: Positive
    noise_multiplier: NotNegative
    rounds: Count
    evaluate_every: Count
    network: Network = absent()
    decay: Annotated[str, _among(DECAYS)] = absent()
    averaging: Annotated[Number, Field(ge=0, lt=1)] = absent()
    sampled: Count = absent()
    seeds: Count = absent()


# -- drawings ------------------------------------------------------------------------------------------------------


class Drawn(Concept):
    """Base class of figures and tables."""

    title: Text
    experiment: Id
    caption: Caption = absent()
    methods: Distinct[Id] = []
    where: dict[str, Any] = {}


class Points(Concept):
    """Points of the paper: columns x and y of a table of claims, in the rows selected by ``where``.

    ``panels`` is the column with the panel of each point; without it, all points are in every panel. ``label`` is the
    legend text, "read off the paper" if absent.
    """

    claims: Id
    where: dict[str, Any] = {}
    x: Text
    y: Text
    panels: Text = absent()
    label: Text = absent()


class StatedNumber(Concept):
    """Number that the paper's text states without a point: an x or a y, the same in all panels or one of each panel."""

    x: Number | dict[StrictStr, Number] = absent()
    y: Number | dict[StrictStr, Number] = absent()
    label: Text

    @model_validator(mode="after")
    def _check_axis(self) -> Self:
        if len({"x", "y"} & self.model_fields_set) != 1:
            raise mistake("needs either x or y.")
        return self


_ANY = ("caption", "methods", "where", "unit", "x_label", "x_scale", "y_label", "y_scale")
_CURVES = (
    "along",
    "curves",
    "files",
    "points",
    "panels",
    "panel_label",
    "relative_to",
    "stated",
)
#: Required and known keys of figures by kind.
FIGURES: Mapping[str, Keys] = {
    "curves": ((), (*_ANY, *_CURVES)),
    "methods": (("over",), (*_ANY, "files", "over")),
    "pareto": ((), (*_ANY, "controls")),
}


class Figure(Drawn):
    """Figure of one of three kinds; ``curves`` has the aesthetics x, panels and curves.

    With the files ``accounting`` a picture has printed and exact curves, and a strip with their ratios. With
    ``relative_to`` it has ratios to a method in place of y. A figure of the kind ``methods`` has a panel per method,
    with the ratio to the method ``over`` at the last x. A ``pareto`` figure has a point per method, its cost x and its
    error y.
    """

    by: ClassVar[str] = "kind"
    kinds: ClassVar[Mapping[str, Keys]] = FIGURES

    kind: Literal["curves", "methods", "pareto"] = "curves"
    x: Id
    y: Quantity
    unit: Literal["counts"] = absent()
    controls: Distinct[Id] = absent()
    x_label: StrictStr = absent()
    x_scale: Literal["linear", "log"] = "linear"
    along: Id = absent()
    y_label: StrictStr = absent()
    y_scale: Literal["linear", "log"] = "linear"
    panels: Id = absent()
    panel_label: StrictStr = absent()
    curves: Id = absent()
    files: Literal["accounting"] = absent()
    over: Id = absent()
    relative_to: Id = absent()
    points: Points = absent()
    stated: StatedNumber = absent()

    @field_validator("panel_label")
    @classmethod
    def _check_panel_label(cls, text: str) -> str:
        if not re.fullmatch(r"[^{}]*\{\}[^{}]*", text):
            raise mistake(
                f"must contain {{}} once for the value of a panel, and no other braces, got {format_value(text)}."
            )
        return text


class Entry(Concept):
    """Column of a leaderboard: a quantity in the cells that ``where`` selects, or its ratio to the method ``over``."""

    heading: Text
    value: Quantity
    where: dict[str, Any] = {}
    unit: Literal["counts"] = absent()
    over: Id = absent()


class Table(Drawn):
    """Table of one number per cell over rows and columns, or of several quantities with a row per method.

    ``format`` is ``.2f`` for two decimals or ``.4g`` for four significant digits, with one digit in place of 2 or 4.
    """

    rows: Distinct[StrictStr] = absent()
    columns: Distinct[StrictStr] = absent()
    value: Quantity = absent()
    entries: Annotated[list[Entry], Field(min_length=1)] = absent()
    order: Distinct[Text] = absent()
    controls: Distinct[Id] = absent()
    format: StrictStr = ".4g"
    headings: dict[Id, Text] = absent()

    @classmethod
    def keys_of(cls, value: Mapping[str, Any]) -> Keys:
        """Return the keys of one of the two forms."""
        numbers, entries = ("rows", "columns", "value"), ("entries", "order")
        needed, others = (entries, numbers) if "entries" in value else (numbers, (*entries, "controls"))
        return (*super().keys_of(value)[0], *needed), set(cls.model_fields) - set(others)

    @field_validator("format")
    @classmethod
    def _check_format(cls, text: str) -> str:
        if not re.fullmatch(r"\.(\df|[1-9]g)", text):
            raise mistake(f"must be a point, a digit, and f or g, such as .4g, got {format_value(text)}.")
        return text

    @model_validator(mode="after")
    def _order_of_entries(self) -> Self:
        headings = [entry.heading for entry in self.entries or ()]
        for heading in headings:
            if headings.count(heading) > 1:
                raise mistake(f"entries: two have the heading {format_value(heading)}.")
        for heading in self.order or ():
            if wrong := unknown(
                heading, headings, f"order: no entry with the heading {format_value(heading)}"
            ):
                raise mistake(wrong)
        return self

    @model_validator(mode="after")
    def _headings_of_axes(self) -> Self:
        axes = [*(self.rows or ()), *(self.columns or ())]
        for axis, text in (self.headings or {}).items():
            if wrong := unknown(axis, axes, f"headings: {format_value(axis)} is neither a row nor a column"):
                raise mistake(wrong)
            try:
                filled = text.format("\n")
            except (ValueError, LookupError, AttributeError, TypeError) as error:
                raise mistake(f"headings: {format_value(text)} is not a format: {error}") from None
            if ("\n" in filled) != (axis in (self.columns or ())):
                raise mistake(
                    f"headings.{axis}: must contain {{}} for the value of a column and must not for a row, "
                    f"got {format_value(text)}."
                )
        return self


class ClaimTable(Concept):
    """Table computed by `shuffledp.pipeline.claims`."""

    title: Text
    caption: Caption


# -- files ---------------------------------------------------------------------------------------------------------


class About(Concept):
    """Title and citation of a paper."""

    title: Text
    citation: Text
    doi: Annotated[StrictStr, Field(pattern=r"^10\.[0-9.]+/\S+$")] = absent()


class Study(Concept):
    """Title of a study of our own, which replicates no paper."""

    title: Text
    citation: Text = absent()


class PaperFile(Concept):
    """File in config/experiments/ or config/own/ of a paper or of a study of our own."""

    paper: About = absent()
    study: Study = absent()
    experiments: Some[Experiment]
    training: dict[Id, TrainingRun] = {}
    figures: dict[Id, Figure] = {}
    tables: dict[Id, Table] = {}
    claims: dict[Id, ClaimTable] = {}

    @model_validator(mode="before")
    @classmethod
    def _of_one_kind(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and ("paper" in value) == ("study" in value):
            raise mistake("needs either the key 'paper' or the key 'study', and not both.")
        return value


class AddedMethods(Concept):
    """Methods that config/designs.yaml adds to an experiment, behind the method `after`."""

    after: Id
    methods: Some[Method]


#: config/designs.yaml: added methods by ``paper.experiment``.
DesignsFile = Annotated[dict[DrawingName, AddedMethods], Field(min_length=1)]


def _all_or_names(value: Any) -> str:
    return "all" if isinstance(value, str) else "names"


class BaselineFile(Concept):
    """A file in config/baselines/: methods of your own, added to every experiment of their task."""

    task: Annotated[str, _among(TASK_KINDS)]
    methods: Some[Method]
    figures: Annotated[
        Annotated[Literal["all"], Tag("all")] | Annotated[Distinct[DrawingName], Tag("names")],
        Discriminator(_all_or_names),
    ] = "all"


class DataPolicy(Concept):
    """Source of data sets: ``official`` fails without the published data, ``auto`` uses substitutes."""

    source: Literal["auto", "official"]


class Override(Concept):
    """Another scale: of an experiment (``repeats``, ``grid``), or of a training run (the other keys)."""

    repeats: Repeats = absent()
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = absent()
    rounds: Count = absent()
    evaluate_every: Count = absent()
    sampled: Count = absent()
    seeds: Count = absent()


def _with_png(formats: list[str]) -> list[str]:
    if "png" not in formats:
        raise mistake(f"must contain 'png', got {format_value(formats)}.")
    return formats


class SiteLinks(Concept):
    """Addresses that the site of the results links to; an address relative to its first page, or absolute."""

    docs: Text = absent()
    repository: Text = absent()


class RunFile(Concept):
    """config/config.yaml, merged with a second file and settings of the command line."""

    seed: CountOrZero
    papers: Annotated[
        list[Id], Field(json_schema_extra={"uniqueItems": True}), AfterValidator(_distinct)
    ]  # none: the user's own experiments alone
    results: Text
    data: DataPolicy
    formats: Annotated[
        list[Literal["png", "pdf", "svg"]],
        Field(json_schema_extra={"uniqueItems": True, "contains": {"const": "png"}}),
        AfterValidator(_distinct),
        AfterValidator(_with_png),
    ]
    baselines: Text
    own: Text = "config/own"
    overrides: dict[Target, Override]
    learning: Literal["auto", "require", "skip"] = "auto"
    effort: Literal["full", "quick"] = "full"
    site: SiteLinks = SiteLinks()

    @model_validator(mode="after")
    def _check_overrides(self) -> Self:
        for target, override in self.overrides.items():
            keys = {"repeats", "grid"}
            if target.partition(".")[2].startswith("training."):
                keys = set(Override.model_fields) - keys
            if wrong := wrong_key(override.model_fields_set, (), keys):
                raise mistake(f"overrides.{target}: {wrong}")
        return self


def described(config_value: Any, grid: Mapping[str, list[Any]]) -> str:
    """Return a value of the configuration for captions: few values as a list, many values as range and number."""
    if is_variable(config_value):
        return _span(grid[config_value[1:]])
    return _span(config_value if isinstance(config_value, list) else [config_value])


def _span(values: Sequence[Any]) -> str:
    distinct = list(dict.fromkeys(values))
    texts = [f"{v:g}" if isinstance(v, float) else str(v) for v in distinct]
    if len(distinct) <= 5 or any(isinstance(v, str) for v in distinct):
        return ", ".join(texts)
    return f"{_span([min(distinct)])} to {_span([max(distinct)])} ({len(distinct)} values)"
