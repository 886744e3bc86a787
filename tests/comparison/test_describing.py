"""``shuffledp describe``: sentences, and records in the schema of the registry of deployments."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from command_line import invoked, typed, unwrapped
from shuffledp.comparison.registry_record import OPEN, as_yaml

#: Requirements of the registry's schema by its commit, the later one for a deployed system: fields, choices, required.
SCHEMAS = json.loads((Path(__file__).parent / "registry_schemas.json").read_text(encoding="utf-8"))


def validate(record, commit):
    checked = jsonschema.FormatChecker()
    jsonschema.validate(record, SCHEMAS[commit], format_checker=checked, cls=jsonschema.Draft202012Validator)


def call(*words):
    return invoked("describe", *words)


@pytest.mark.parametrize(
    "protocol, setting, model, delta",
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
    validate(record, "057e5d81cf60")
    deployment = record["deployment"]
    assert deployment["deployment_model"]["model_name"] == model
    parameters = deployment["privacy_loss"]["privacy_parameters"]
    assert parameters["epsilon"] == 1.0
    assert parameters.get("delta") == delta
    assert deployment["dp_variant"]["variant_name"] == ("Approximate DP" if delta else "Pure DP")
    assert f'name: ""  # {OPEN}' in done.output


def test_deployed_system_has_a_record():
    done = call("Cobalt, 1m report", "--registry")
    assert done.exit_code == 0, done.output
    content = yaml.safe_load(done.output)
    validate(content, "3e9c812")
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
        assert words in unwrapped(done.output)
    assert "Printed: eps = 0.317" in call("DAP, eps0 = 5").output


@pytest.mark.parametrize(
    "words, message",
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
    "words, message",
    [
        ("nothing --users 9 --domain-size 4 --eps 1 --delta 1e-6", "No frequency protocol named 'nothing'"),
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
    "limit, reason",
    [
        (["--max-bits", "4"], "pure_dump: A user may send more than 4 bits."),
        (["--mean-messages", "1"], "pure_dump: A user sends more than 1 messages on average."),
        (["--trust", "local,central"], "pure_dump has the trust model shuffler, not local or central."),
        (["--max-bits", "0"], "max_bits must be a positive finite number, got 0.0."),
    ],
)
def test_limits_hold_for_one_protocol(command, limit, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    setting = typed("--users 3k --domain-size 5 --epsilon 1 --delta 1e-6")
    name, *options = command
    done = invoked(name, "pure_dump", *options, *setting, *limit)
    assert done.exit_code == 1
    assert done.output == f"Error: {reason}\n"
    assert not (tmp_path / "visits").exists()
    fits = typed("--max-bits 6 --max-messages 2 --trust shuffler")
    assert invoked(name, "pure_dump", *options, *setting, *fits).exit_code == 0
