"""The grammar of the configuration: keys and values of each concept, and their descriptions in captions.

Grid variables (``$name``) are replaced by their values before a file is compared with the grammar, so every number of
every grid is checked. The classes check and describe; jobs keep the plain data of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias, TypeVar, Union

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    WithJsonSchema,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from shuffledp.identities import colors
from shuffledp.pipeline.config.config_errors import one_of, shown, suggestion
from shuffledp.pipeline.datasets.registry import NAMES, spec
from shuffledp.pipeline.experiments.grid import is_variable
from shuffledp.pipeline.experiments.sources import COLUMNS
from shuffledp.pipeline.experiments.training_jobs import IMAGES
from shuffledp.pipeline.learning.plan import ACTIVATIONS, DECAYS, KINDS, POOLINGS
from shuffledp.tasks import METRICS, TASK_KINDS, WORST_METRIC

Say = Callable[[Any], str]
"""Text of a value in a caption; the value may be a list or a grid variable."""


def _mistake(text: str) -> PydanticCustomError:
    return PydanticCustomError("configuration", "{text}", {"text": text})


class Concept(BaseModel):
    """Base class of mappings with known keys; an unknown or missing key is reported before any other error."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _keys(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _mistake(f"expected a mapping, got {shown(value)}.")
        for key in value:
            if key not in cls.model_fields:
                known = sorted(cls.model_fields)
                raise _mistake(f"unknown key {key!r}.{suggestion(key, known)} Known: {', '.join(known)}.")
        for key, about in cls.model_fields.items():
            if about.is_required() and key not in value:
                raise _mistake(f"lacks the key {key!r}.")
        return value


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
        raise _mistake(f"has a value twice: {shown(values)}.")
    return values


def _among(known: Sequence[str]) -> BeforeValidator:
    def check(value: Any) -> Any:
        if value not in known:
            raise _mistake(one_of(value, list(known)))
        return value

    return BeforeValidator(check, json_schema_input_type=Literal[tuple(known)])


def _grid_value(value: Any) -> Any:
    if not isinstance(value, int | float | str):
        raise _mistake(f"expected a number or text or true or false, got {shown(value)}.")
    if isinstance(value, int) and abs(value) > 10**300:
        raise _mistake(f"must be at most 10^300, got {shown(value)}.")
    return value


Number = StrictFloat  # whole numbers too
Positive = Annotated[Number, Field(gt=0)]
NotNegative = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
Delta = Annotated[Number, Field(gt=0, lt=1)]
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
DrawingName = Annotated[StrictStr, Field(pattern=r"^[a-z0-9_]+\.[a-z0-9_]+$")]
T = TypeVar("T")
Distinct = Annotated[
    list[T], Field(min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(_distinct)
]
Some = Annotated[dict[Id, T], Field(min_length=1)]
Accounting = Literal["printed", "simplified", "corrected", "exact"]
GridValue = Annotated[
    Any, AfterValidator(_grid_value), WithJsonSchema({"type": ["number", "string", "boolean"]})
]
Grid = dict[Id, Distinct[GridValue]]


def _number_or_list(value: Any) -> str:
    return "list" if isinstance(value, list) else "number"


Eps = Annotated[
    Annotated[list[Nats], Field(min_length=1), Tag("list")] | Annotated[Nats, Tag("number")],
    Discriminator(_number_or_list),
]
"""One budget, or a list of budgets, one per privacy level."""


# -- participants --------------------------------------------------------------------------------------------------


class Users(Concept):
    """A fixed number of participants."""

    users: UserCount

    @staticmethod
    def describe(config: Mapping[str, Any], say: Say) -> str:
        """Return the description for captions."""
        return say(config["users"])


class Law(Concept):
    """User 1 and a random number of other users; the keys are arguments of the class in `shuffledp.populations`."""

    law: str

    @staticmethod
    def describe(config: Mapping[str, Any], say: Say) -> str:
        """Return the description for captions."""
        arguments = ", ".join(f"{key} {say(value)}" for key, value in config.items() if key != "law")
        return f"1 + {config['law']} ({arguments})"


class BinomialLaw(Law):
    """User 1 and ``trials`` other users (at least one); each other user takes part with probability ``rate``."""

    trials: UserCount
    rate: Share


class PoissonLaw(Law):
    """A Poisson number of others."""

    mean: UserMean


class EmpiricalLaw(Law):
    """Probabilities of ``start``, ``start + 1``, .. others."""

    pmf: Annotated[list[Share], Field(min_length=1)]
    start: CountOrZero = 0


class SubGaussianBound(Law):
    """A bound on the number of others."""

    mean: UserMean
    scale: NotNegative
    convention: Literal["variance_proxy", "printed"] = "variance_proxy"


class SubExponentialBound(Law):
    """A bound on the number of others."""

    mean: UserMean
    a: Positive
    b: Positive


class MomentBound(Law):
    """A bound on the number of others."""

    mean: UserMean
    variance: NotNegative


LAWS: dict[str, type[Law]] = {
    "binomial": BinomialLaw,
    "poisson": PoissonLaw,
    "empirical": EmpiricalLaw,
    "sub_gaussian": SubGaussianBound,
    "sub_exponential": SubExponentialBound,
    "moment_bounded": MomentBound,
}


USERS = "{users}"
"""Branch of a population that is not named after a law; messages omit text in braces."""


def _named(value: Any, key: str) -> str | None:
    return str(value[key]) if isinstance(value, Mapping) and key in value else None


def law(value: Any) -> str | None:
    """Return the tag of a population's class; error messages of pydantic contain the name of this function."""
    if isinstance(value, Mapping) and "users" in value:
        return USERS
    return _named(value, "law")


Population = Annotated[
    Annotated[BinomialLaw, Tag("binomial")]
    | Annotated[PoissonLaw, Tag("poisson")]
    | Annotated[EmpiricalLaw, Tag("empirical")]
    | Annotated[SubGaussianBound, Tag("sub_gaussian")]
    | Annotated[SubExponentialBound, Tag("sub_exponential")]
    | Annotated[MomentBound, Tag("moment_bounded")]
    | Annotated[Users, Tag(USERS)],
    Discriminator(law),
]


def describe_population(config: Mapping[str, Any], say: Say) -> str:
    """Return the description of a population for captions."""
    return (Users if "users" in config else LAWS[config["law"]]).describe(config, say)


class Budget(Concept):
    """Privacy budget: eps in nats, and delta or delta times the expected number of participants."""

    eps: Eps = absent()
    delta: Delta = absent()
    delta_times_users: Positive = absent()
    neighbours: Literal["replace_one", "add_remove"] = "replace_one"

    @staticmethod
    def describe(config: Mapping[str, Any], say: Say) -> dict[str, str]:
        """Return the descriptions of eps and delta for captions."""
        said = {"eps": f"{say(config['eps'])} nats"} if "eps" in config else {}
        if "delta" in config:
            said["delta"] = say(config["delta"])
        if "delta_times_users" in config:
            said["delta"] = f"{say(config['delta_times_users'])} / N"
        return said


# -- tasks and data ------------------------------------------------------------------------------------------------


class Task(Concept):
    """Estimated quantity; the keys of a kind are the arguments of its class in `shuffledp.tasks`."""

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
    metrics: Distinct[Annotated[str, _among((*METRICS, WORST_METRIC))]] = absent()

    @staticmethod
    def describe(config: Mapping[str, Any]) -> str:
        """Return the reference values of the errors, for captions."""
        own = config.get("truth", "participants") == "participants"
        return "the participants' own values" if own else "the population's values"


class Uniform(Concept):
    """Synthetic records with equally likely values."""

    name: str
    records: Count = absent()
    split: StrictStr = absent()


class Zipf(Concept):
    """Synthetic records by Zipf's law: the frequency of a value falls with its rank to the power of `exponent`."""

    name: str
    exponent: Positive
    records: Count = absent()


class Heavy(Concept):
    """Synthetic records of which one value has a given share; all others are equally likely."""

    name: str
    share: Annotated[Number, Field(gt=0, lt=1)]
    records: Count = absent()


class Axes(Concept):
    """Unit vectors along the axes, either way, all equally likely."""

    name: str


class Categorical(Concept):
    """Synthetic records with the given weights."""

    name: str
    weights: Annotated[list[NotNegative], Field(min_length=2)]


class RealData(Concept):
    """A column of a prepared data set."""

    name: str
    column: str
    split: StrictStr = absent()
    padding: Literal["categories", "tokens"] = absent()
    draw: Literal["with_replacement", "without_replacement"] = "without_replacement"


def _column_of(name: str) -> Any:
    """Return the concept of a column of a published data set."""
    column: Any = (Annotated[str, _among(COLUMNS[name])], ...)
    concept = create_model(
        name.capitalize(), __base__=RealData, __doc__=f"A column of {spec(name).title}.", column=column
    )
    return Annotated[concept, Tag(name)]


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise _mistake(f"must be text, got {shown(value)}: put it in quotes, as in the data file.")
    return value


OwnValue = Annotated[StrictStr | StrictInt | StrictFloat, BeforeValidator(_no_truth)]


class OwnFile(Concept):
    """A file of the user; `shuffledp.pipeline.experiments.sources.user_file` lists the keys by kind of task."""

    name: str
    path: Text = absent()
    counts: Text = absent()
    column: Text = absent()
    separator: StrictStr = absent()
    user: Text = absent()
    item: Text = absent()
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


def name(value: Any) -> str | None:
    """Return the tag of the data's class; error messages of pydantic contain the name of this function."""
    return _named(value, "name")


if TYPE_CHECKING:
    PublishedData: TypeAlias = RealData
else:
    PublishedData = Union[tuple(map(_column_of, NAMES))]  # noqa: UP007  (of a tuple)

Data = Annotated[
    PublishedData
    | Annotated[OwnFile, Tag("file")]
    | Annotated[Categorical, Tag("categorical")]
    | Annotated[Zipf, Tag("zipf")]
    | Annotated[Heavy, Tag("heavy")]
    | Annotated[Axes, Tag("axes")]
    | Annotated[Uniform, Tag("uniform")],
    Discriminator(name),
]


def describe_data(config: Mapping[str, Any], say: Say) -> str:
    """Return the description of data for captions."""
    if config["name"] == "zipf":
        return f"Zipf's law, exponent {say(config['exponent'])}"
    if config["name"] == "heavy":
        return f"one value held by a share {say(config['share'])} of the users, the others evenly"
    if config["name"] == "axes":
        return "unit vectors along the axes, either way, all equally likely"
    if config["name"] == "file":
        return _describe_file(config, say)
    return f"{config['name']}, {config['column']}" if "column" in config else str(config["name"])


def _describe_file(config: Mapping[str, Any], say: Say) -> str:
    """Return the names of the files without their folders, the columns, and the clipping range."""
    paths = say(config["path"]).split(", ")
    columns = [say(config[key]) for key in ("column", "user", "item") if key in config]
    ends = [say(config[key]) if key in config else "the task's" for key in ("low", "high")]
    clip = [f"clipped to {ends[0]} .. {ends[1]}"] if {"low", "high"} & set(config) else []
    return ", ".join([*(path.rpartition("/")[2] for path in paths), *columns, *clip])


# -- methods and experiments -----------------------------------------------------------------------------------------


class Arguments(BaseModel):
    """Arguments of a function; four common ones are checked here, others by the function."""

    model_config = ConfigDict(extra="allow")

    population: Population = absent()
    eps_local: Nats = absent()
    eps_central: Nats = absent()
    delta: Delta = absent()


class Method(Concept):
    """A method of an experiment: a protocol, or a function of the accounting; an option may have a ``color``."""

    protocol: Text = absent()
    function: Text = absent()
    label: Text = absent()
    color: Annotated[StrictStr, _among(tuple(colors()))] = absent()
    options: dict[str, Any] = absent()
    arguments: Arguments = absent()
    returns: Id = absent()
    training: Id = absent()
    budget: Budget = absent()
    accounting: Distinct[Accounting] = absent()


class Ranked(Concept):
    """Name of the task in the ranking of all protocols, and the ranked cells."""

    task: Text
    where: dict[Id, GridValue] = absent()


class Experiment(Concept):
    """A grid of cells and the methods that are computed on it.

    ``simulated_at``, ``spent_at`` and ``profile_at`` select cells by values of grid variables. Only these cells have a
    simulation, the spent eps, or delta at many eps. The protocols of experiments with ``ranked`` are in the ranking.
    """

    source: Text = absent()
    grid: Grid
    methods: Some[Method]
    task: Task = absent()
    data: Data = absent()
    population: Population = absent()
    budget: Budget = absent()
    accounting: Distinct[Accounting] = absent()
    repeats: Repeats = 1
    simulated_at: Annotated[dict[Id, Distinct[GridValue]], Field(min_length=1)] = absent()
    spent_at: Annotated[dict[Id, Distinct[GridValue]], Field(min_length=1)] = absent()
    profile_at: Annotated[dict[Id, Distinct[GridValue]], Field(min_length=1)] = absent()
    ranked: Ranked = absent()
    assumed: dict[str, Text] = absent()


# -- training ------------------------------------------------------------------------------------------------------


class TrainingData(Concept):
    """Training data of a run."""

    name: Annotated[str, _among(tuple(IMAGES))]


class Network(Concept):
    """Variants of the network."""

    pooling: Annotated[str, _among(POOLINGS)] = absent()
    activation: Annotated[str, _among(ACTIVATIONS)] = absent()


class TrainingRun(Concept):
    """Settings of a training run; `shuffledp.pipeline.learning.TrainingPlan` lists them by kind."""

    kind: Annotated[str, _among(KINDS)]
    data: TrainingData
    learning_rate: Positive
    clip: Positive
    noise_multiplier: NotNegative
    rounds: Count
    evaluate_every: Count
    batch: Count = absent()
    rate: Annotated[Number, Field(gt=0, lt=1)] = absent()
    network: Network = absent()
    decay: Annotated[str, _among(DECAYS)] = absent()
    averaging: Annotated[Number, Field(ge=0, lt=1)] = absent()
    sampled: Count = absent()


# -- drawings ------------------------------------------------------------------------------------------------------


class Drawn(Concept):
    """Base class of figures and tables."""

    title: Text
    experiment: Id
    caption: Caption = absent()
    methods: Distinct[Id] = absent()
    where: dict[str, Any] = absent()


class Points(Concept):
    """Points of the paper: columns x and y of a table of claims, in the rows selected by ``where``.

    ``panels`` is the column with the panel of each point; without it, all points are in every panel. ``label`` is the
    legend text, "read off the paper" if absent.
    """

    claims: Id
    where: dict[str, Any] = absent()
    x: Text
    y: Text
    panels: Text = absent()
    label: Text = absent()


KEYS_BY_KIND: Mapping[str, frozenset[str]] = {
    "curves": frozenset({"along", "curves", "files", "lead", "over", "points", "panels", "twins"}),
    "pareto": frozenset({"controls"}),
    "regions": frozenset({"controls", "panels", "value", "x_unit"}),
}
"""Keys of a figure that only some kinds have."""


class Figure(Drawn):
    """Figure of one of three kinds; ``curves`` has the aesthetics x, panels, curves and files.

    With the files ``accounting`` one picture has printed and exact curves; ``twins`` adds one of each, with equal axes.
    A ``pareto`` figure has a point per method, its cost x and its error y, and a panel per trust model. A ``regions``
    figure shows the method with the least ``value`` at every x and every bound y on its cost. Methods of ``lead`` have
    their names beside the curves, and all others are gray with a number. A strip has the ratio to the method ``over``.
    """

    kind: Literal["curves", "pareto", "regions"] = "curves"
    x: Id
    y: Quantity
    value: Quantity = absent()
    unit: Literal["counts"] = absent()
    x_unit: Literal["users"] = absent()
    controls: Distinct[Id] = absent()
    x_label: StrictStr = absent()
    x_scale: Literal["linear", "log"] = "linear"
    along: Id = absent()
    y_label: StrictStr = absent()
    y_scale: Literal["linear", "log"] = "linear"
    panels: Id = absent()
    panel_label: StrictStr = absent()
    curves: Id = absent()
    files: Id = absent()
    twins: StrictBool = absent()
    lead: Annotated[Distinct[Id], Field(max_length=6)] = absent()
    over: Id = absent()
    points: Points = absent()

    @model_validator(mode="after")
    def _keys_of_its_kind(self) -> Self:
        for name in sorted({key for keys in KEYS_BY_KIND.values() for key in keys} - KEYS_BY_KIND[self.kind]):
            if getattr(self, name) is not None:
                raise _mistake(f"{name} cannot be used in a figure of the kind {self.kind!r}.")
        if self.kind == "regions" and self.value is None:
            raise _mistake("a figure of the kind 'regions' lacks the key 'value'.")
        return self


class Entry(Concept):
    """Column of a leaderboard: a quantity in the cells that ``where`` selects, or its ratio to the method ``over``."""

    heading: Text
    value: Quantity
    where: dict[str, Any] = absent()
    unit: Literal["counts"] = absent()
    over: Id = absent()


class Table(Drawn):
    """Table of one number per cell over rows and columns, or of several quantities with a row per method."""

    rows: Distinct[StrictStr] = absent()
    columns: Distinct[StrictStr] = absent()
    value: Quantity = absent()
    entries: Annotated[list[Entry], Field(min_length=1)] = absent()
    order: Distinct[Text] = absent()
    controls: Distinct[Id] = absent()
    format: StrictStr = ".4g"
    headings: dict[Id, Text] = absent()

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        spread = {name: getattr(self, name) for name in ("rows", "columns", "value")}
        listed = {name: getattr(self, name) for name in ("entries", "order")}
        if self.controls is not None and self.entries is None:
            raise _mistake("controls needs entries: only a table with entries marks controls.")
        for wanted, others in ((spread, listed), (listed, spread)):
            if all(part is not None for part in wanted.values()):
                extra = [name for name, part in others.items() if part is not None]
                if extra:
                    raise _mistake(f"{extra[0]} cannot be combined with {', '.join(wanted)}.")
                return self
        raise _mistake("a table needs either rows, columns and value, or entries and order.")

    @model_validator(mode="after")
    def _order_of_entries(self) -> Self:
        headings = [entry.heading for entry in self.entries or ()]
        for heading in headings:
            if headings.count(heading) > 1:
                raise _mistake(f"entries: two have the heading {heading!r}.")
        for heading in self.order or ():
            if heading not in headings:
                raise _mistake(
                    f"order: no entry with the heading {heading!r}.{suggestion(heading, headings)} "
                    f"Known: {', '.join(headings)}."
                )
        return self

    @model_validator(mode="after")
    def _headings_of_axes(self) -> Self:
        axes = [*(self.rows or ()), *(self.columns or ())]
        for axis, text in (self.headings or {}).items():
            if axis not in axes:
                raise _mistake(
                    f"headings: {axis!r} is neither a row nor a column.{suggestion(axis, axes)} "
                    f"Known: {', '.join(axes)}."
                )
            try:
                filled = text.format("\n")
            except (ValueError, LookupError, AttributeError) as error:
                raise _mistake(f"headings: {text!r} is not a format: {error}") from None
            if ("\n" in filled) != (axis in (self.columns or ())):
                raise _mistake(
                    f"headings.{axis}: must contain {{}} for the value of a column and must not for a row, "
                    f"got {text!r}."
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
    training: dict[Id, TrainingRun] = absent()
    figures: dict[Id, Figure] = absent()
    tables: dict[Id, Table] = absent()
    claims: dict[Id, ClaimTable] = absent()

    @model_validator(mode="before")
    @classmethod
    def _of_one_kind(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and ("paper" in value) == ("study" in value):
            raise _mistake("needs either the key 'paper' or the key 'study', and not both.")
        return value


class AddedMethods(Concept):
    """Methods that config/designs.yaml adds to an experiment, behind the method `after`."""

    after: Id
    methods: Some[Method]


DesignsFile = Annotated[dict[DrawingName, AddedMethods], Field(min_length=1)]
"""config/designs.yaml: added methods by ``paper.experiment``."""


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


class ExperimentOverride(Concept):
    """Another scale for an experiment."""

    repeats: Repeats = absent()
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = absent()


class TrainingOverride(Concept):
    """Another scale for a training run."""

    rounds: Count = absent()
    evaluate_every: Count = absent()
    sampled: Count = absent()


def _with_png(formats: list[str]) -> list[str]:
    if "png" not in formats:
        raise _mistake(f"must contain 'png', got {shown(formats)}.")
    return formats


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
    overrides: dict[str, dict[str, Any]]
    learning: Literal["auto", "require", "skip"] = "auto"
    effort: Literal["full", "quick"] = "full"


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
