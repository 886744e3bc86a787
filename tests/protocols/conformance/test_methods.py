"""A wrong result of a method of a user's class gives one sentence, and an error is raised with its setting."""

import pytest

from shuffledp.protocols import scaffold
from shuffledp.protocols.conformance import default_cases, methods
from shuffledp.protocols.registry import plugin

ESTIMATE = "return (aggregate / public.n_users[:, None] - self.lie) / (keep - self.lie)"
ENCODE = "n, k = len(users), self.domain_size"


def written(folder, old, new):
    file = folder / "mine.py"
    text = scaffold.class_source("frequency", "mine")
    assert old in text
    file.write_text(text.replace(old, new, 1))
    return plugin(f"{file}:Mine")


def fault(folder, old, new):
    found = written(folder, old, new)
    return methods.fault(found, default_cases(found))


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            ESTIMATE,
            "pass",
            "estimate returns None for two repeats, expected an array of numbers of shape (2, 2)",
        ),
        (
            ESTIMATE,
            f"{ESTIMATE}.tolist()".replace("return (", "return ((", 1).replace(".tolist", ").tolist"),
            "a list",
        ),
        (ESTIMATE, "return aggregate * np.nan", "estimate returns nan among its numbers"),
        (ESTIMATE, "return aggregate.astype(str)", "estimate returns an array of <U"),
        (ESTIMATE, "return aggregate[:, :1]", "an array of int64 of shape (2, 1)"),
        ("return Cost(messages", "return dict(messages", "cost returns a dict, expected a Cost"),
        ("return Messages(np.where", "return list(np.where", "encode returns a list, expected Messages"),
        ("return sum(", "return list(", "sample_aggregate returns a list"),
    ],
)
def test_wrong_return_value_is_named(tmp_path, old, new, message):
    found = fault(tmp_path, old, new)
    assert found is not None
    assert message in found


@pytest.mark.parametrize(
    "old, new, error",
    [
        (ENCODE, f"{ENCODE}\n        if k > 2: raise KeyError(k)", KeyError),
        ("return cls(request", "raise OSError('no')\n        return cls(request", OSError),
        ("def cost(self)", "def cost()", TypeError),
        ("return cls(request.k, request.eps)", "pass", TypeError),  # fit returns None, expected a Mine
    ],
)
def test_error_has_setting_as_note(tmp_path, old, new, error):
    with pytest.raises(error) as caught:
        fault(tmp_path, old, new)
    assert caught.value.__notes__[-1].startswith("in the setting Fixed(")


def test_unchanged_class_has_no_fault(tmp_path):
    assert fault(tmp_path, ESTIMATE, ESTIMATE) is None


def test_output_is_counted_and_exit_refused(capsys):
    printed = methods.Printed()
    assert methods.quietly(printed, lambda: print("one\ntwo") or 7) == 7
    assert list(methods.each_quietly(printed, (print(i) or i for i in range(2)))) == [0, 1]
    assert capsys.readouterr().out == ""
    assert str(printed) == "4 lines, the first is 'one'"
    assert str(methods.Printed()) == ""
    with pytest.raises(RuntimeError, match=r"sys.exit\(2\) is called"):
        methods.quietly(printed, lambda: exit(2))
