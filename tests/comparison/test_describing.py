"""``shuffledp describe``: sentences, and records in the schema of the registry of deployments."""

from __future__ import annotations

import jsonschema
import pytest
import yaml

from command_line import invoked
from shuffledp.comparison.registry_record import OPEN, as_yaml

TEXT = {"type": "string"}


def one_of(*choices: object) -> dict:
    return {"enum": list(choices)}


def fields(required: str, **properties: dict) -> dict:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required.split(),
        "properties": properties,
    }


def texts(names: str) -> dict:
    return dict.fromkeys(names.split(), TEXT)


#: Requirements of the registry's schema at its commit 057e5d81cf60: fields, choices, required fields.
CURATOR = fields(
    "data_curator_name data_curator_type",
    data_curator_name=TEXT,
    data_curator_type=one_of("Government", "Industry", "Nonprofit"),
)
BASIC = fields(
    "name data_curators description intended_use data_product_type data_product_region publication_date",
    **texts("name description intended_use data_product_region"),
    data_curators={"type": "array", "items": CURATOR, "minItems": 1},
    data_product_type=one_of(
        *("Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API"),
        "SQL queries",
    ),
    data_product_sector=one_of("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
    publication_date={"type": "string", "format": "date"},
)
VARIANT = fields(
    "",
    variant_name=one_of("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
    **texts("data_domain unprotected_quantities"),
)
LOSS = fields(
    "",
    **texts("privacy_unit privacy_unit_details"),
    number_of_privacy_units={"type": "integer"},
    privacy_parameters=fields(
        "", epsilon={"type": "number"}, delta={"type": ["number", "string"]}, rho={"type": "number"}
    ),
    privacy_parameters_details={},
)
MODEL = fields(
    "",
    model_name=one_of("Local", "Central", "Shuffle", "Federated", "Varies"),
    actors={},
    release_type=one_of("One release", "Many releases"),
    data_source_type=one_of("Static", "Dynamic"),
    access_type=one_of("Interactive", "Non-interactive"),
    **texts(
        "model_name_details trust_assumptions release_type_details data_source_type_details access_type_details"
    ),
)
IMPLEMENTATION = fields(
    "",
    **texts("preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification"),
    utility={},
    additional_information={},
)
ADMINISTRATIVE = fields(
    "status registry_authors tier",
    evidence_sources={},
    notes={},
    status=one_of(
        *("Converted", "Draft", "Pending", "Changes Required", "Approved"),
        *("Approved (Update Requested)", "Approved (Pending)"),
    ),
    registry_authors={"type": "array", "items": TEXT, "minItems": 1},
    tier=one_of(1, 2, 3),
)
SCHEMA = fields(
    "url_slug deployment",
    url_slug=TEXT,
    deployment=fields(
        "basic administrative",
        basic=BASIC,
        dp_variant=VARIANT,
        privacy_loss=LOSS,
        deployment_model=MODEL,
        implementation=IMPLEMENTATION,
        administrative=ADMINISTRATIVE,
    ),
)


def call(*words: str):
    return invoked("describe", *words)


@pytest.mark.parametrize(
    ("protocol", "setting", "model", "delta"),
    [
        ("grr_blanket", "--users 30000 --domain-size 20 --eps 1 --delta 1e-8", "Shuffle", 1e-8),
        ("sageo", "--users 30000 --domain-size 20 --eps 1 --delta 1e-8", "Shuffle", 1e-8),
        ("local", "--users 30000 --domain-size 20 --eps 1 --delta 0", "Local", None),
        ("symmetric_rappor", "--users 1000 --domain-size 5 --eps 1 --delta 1e-6", "Federated", 1e-6),
        ("amplified", "--population binomial:9999:0.3 --domain-size 4 --eps 1 --delta 1e-6", "Shuffle", 1e-6),
    ],
)
def test_record_follows_the_registry_schema(protocol, setting, model, delta):
    done = call(protocol, *setting.split(), "--registry")
    assert done.exit_code == 0, done.output
    record = yaml.safe_load(done.output)
    jsonschema.validate(
        record, SCHEMA, format_checker=jsonschema.FormatChecker(), cls=jsonschema.Draft202012Validator
    )
    deployment = record["deployment"]
    assert deployment["deployment_model"]["model_name"] == model
    parameters = deployment["privacy_loss"]["privacy_parameters"]
    assert parameters["epsilon"] == 1.0
    assert parameters.get("delta") == delta
    assert deployment["dp_variant"]["variant_name"] == ("Approximate DP" if delta else "Pure DP")
    assert f'name: ""  # {OPEN}' in done.output


def without(schema: dict, names: str) -> dict:
    """Return a schema that has no field of these names."""
    return schema | {
        "properties": {key: one for key, one in schema["properties"].items() if key not in names.split()}
    }


#: Requirements at the commit 3e9c812, for a deployed system.
LATER = fields(
    "url_slug status tier deployment",
    url_slug=TEXT,
    status=one_of("Draft"),
    tier=one_of(1, 2, 3),
    deployment=fields(
        "basic",
        basic=BASIC,
        dp_variant=VARIANT,
        privacy_loss=without(LOSS, "number_of_privacy_units"),
        deployment_model=without(MODEL, "trust_assumptions"),
        accounting=fields("", **texts("post_processing composition")),
        implementation=without(IMPLEMENTATION, "composition post_processing utility additional_information"),
        administrative=fields(
            "registry_authors",
            registry_authors={"type": "array", "items": TEXT, "minItems": 1},
            sources={},
            notes=TEXT,
        ),
    ),
)


def test_deployed_system_has_a_record():
    done = call("Cobalt, 1m report", "--registry")
    assert done.exit_code == 0, done.output
    content = yaml.safe_load(done.output)
    jsonschema.validate(
        content, LATER, format_checker=jsonschema.FormatChecker(), cls=jsonschema.Draft202012Validator
    )
    deployment = content["deployment"]
    assert (content["status"], content["tier"]) == ("Draft", 3)
    assert deployment["basic"]["name"] == "Cobalt: returned topics (AdServices)"
    assert deployment["privacy_loss"]["privacy_unit"] == "device-day"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-10}
    assert "eps = 0.99815" in deployment["privacy_loss"]["privacy_parameters_details"]
    assert deployment["accounting"]["composition"].endswith("7 days 2.772, 30 days 6.059.")
    for name in ("data_product_region", "intended_use"):
        assert f'{name}: ""  # {OPEN}' in done.output
    assert f'publication_date: "1900-01-01"  # {OPEN}' in done.output


def test_deployed_system_is_described():
    done = call("Cobalt, both reports")
    assert done.exit_code == 0, done.output
    for words in ("No eps is printed", "eps = 6.38286", "The analyzer cannot check this", "Open: Whether"):
        assert words in " ".join(done.output.split())
    assert "Printed: eps = 0.317" in call("DAP, eps0 = 5").output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ENPA"], "ENPA cannot be described. Not found for it: the number of users"),
        (["Cobalt, both reports", "--registry"], "has no record"),
        (["DAP, eps0 = 5", "--registry"], "has no record"),
    ],
)
def test_unknown_systems_are_refused(words, message):
    done = call(*words)
    assert done.exit_code != 0 and message in done.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nothing --users 9 --domain-size 4 --eps 1 --delta 1e-6", "No frequency protocol named 'nothing'"),
        ("grr_blanket --users 9 --eps 1 --delta 1e-6", "Give a task"),
        ("grr_blanket --domain-size 4 --eps 1 --delta 1e-6", "users"),
        (
            "grr_blanket --users 9 --domain-size 4 --eps 1 --delta 1e-6 --accounting best",
            "must be one of exact",
        ),
        ("local --users 9 --domain-size 4 --eps 1 --delta 0.1 --accounting corrected", "has no corrected"),
        ("grr_blanket --users 9 --domain-size 4 --eps 0 --delta 1e-6", "eps"),
        ("pure_dump --users 9 --domain-size 4 --eps 1 --delta 0", "delta"),
    ],
)
def test_mistakes_are_one_line(words, message):
    done = call(*words.split())
    assert done.exit_code != 0
    assert done.output.startswith("Error: ")
    assert message in done.output
    assert done.output.count("\n") == 1


def test_yaml_keeps_numbers_and_texts():
    content = {"a": 1e-8, "b": 1.5e300, "c": 'it\'s "so": 1 # 2', "d": [{"x": "y", "z": 3}], "e": ["f"]}
    assert yaml.safe_load(as_yaml(content)) == content
    with pytest.raises(ValueError, match="finite"):
        as_yaml({"a": float("inf")})


@pytest.mark.parametrize("command", [["describe"], ["client", "-o", "visits"]])
@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (["--max-bits", "4"], "pure_dump: A user may send more than 4 bits."),
        (["--mean-messages", "1"], "pure_dump: A user sends more than 1 messages on average."),
        (["--trust", "local,central"], "pure_dump has the trust model shuffler, not local or central."),
        (["--max-bits", "0"], "max_bits must be a positive finite number, got 0.0."),
    ],
)
def test_limits_hold_for_one_protocol(command, limit, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    setting = ["--users", "3k", "--domain-size", "5", "--epsilon", "1", "--delta", "1e-6"]
    name, *options = command
    done = invoked(name, "pure_dump", *options, *setting, *limit)
    assert done.exit_code == 1
    assert done.output == f"Error: {reason}\n"
    assert not (tmp_path / "visits").exists()
    fits = ["--max-bits", "6", "--max-messages", "2", "--trust", "shuffler"]
    assert invoked(name, "pure_dump", *options, *setting, *fits).exit_code == 0
