"""Files that a command writes at the user's paths."""

import os
from pathlib import Path

import pytest

from shuffledp import outputs
from shuffledp.outputs import checked


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("v\n1\n")
    Path("below").mkdir()
    Path("link.csv").symlink_to("in.csv")
    os.link("in.csv", "hard.csv")
    for name in ("one", "two"):
        Path(f"{name}.svg").symlink_to("below/none.svg")
    return tmp_path


@pytest.mark.parametrize("name", ["in.csv", "below/../in.csv", "link.csv", "hard.csv", None])
def test_input_is_never_an_output(folder, name):
    path = Path(name) if name else folder / "in.csv"
    with pytest.raises(
        ValueError, match=f"^--out {path} is the file in.csv, which is read: give another one.$"
    ):
        checked({"--out": path}, [Path("in.csv")])


@pytest.mark.parametrize(
    "first, second",
    [("a.svg", "./a.svg"), ("one.svg", "two.svg"), ("one.svg", "below/none.svg"), ("hard.csv", "link.csv")],
)
def test_two_outputs_are_two_files(folder, first, second):
    with pytest.raises(ValueError, match=r"^--b .* is the file of --a: give another one.$"):
        checked({"--a": Path(first), "--b": Path(second)})
    assert not list(Path("below").iterdir())


def test_file_appears_whole_or_stays(folder, monkeypatch):
    Path("out.csv").write_text("before")
    Path("out.csv").chmod(0o600)
    Path("to_out.csv").symlink_to("out.csv")
    output = checked({"--out": Path("to_out.csv")}, [Path("in.csv")])["--out"]
    with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left"):
        patched.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        output.write(b"after")
    assert Path("out.csv").read_text() == "before"
    output.write(b"after")
    assert Path("to_out.csv").is_symlink()
    assert Path("out.csv").read_text() == "after"
    assert Path("out.csv").stat().st_mode & 0o777 == 0o600
    assert not [path for path in folder.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.parametrize(
    "name, says",
    [
        ("no/out.csv", "There is no folder no for no/out.csv"),
        ("below", "below is neither a file nor a pipe"),
        ("pipe", "pipe cannot be written: no process reads this pipe"),
        ("fixed.csv", "fixed.csv cannot be written: .*fixed.csv is read-only"),
    ],
)
def test_unwritable_output_is_refused_early(folder, monkeypatch, name, says):
    os.mkfifo("pipe")
    Path("fixed.csv").touch()
    allowed = os.access
    monkeypatch.setattr(
        outputs.os, "access", lambda path, mode: path.name != "fixed.csv" and allowed(path, mode)
    )  # the system allows everything where tests run as root
    with pytest.raises(ValueError, match=says):
        checked({"--out": Path(name)})


def test_pipe_is_open_from_check(folder):
    """A reader of the pipe exists when the command begins; the reader does not end, and the command does not wait."""
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    output = checked({"--out": Path("pipe")})["--out"]
    with pytest.raises(BlockingIOError):  # not the end of the file
        os.read(reader, 1)
    output.write(b"rows")
    assert (os.read(reader, 9), os.read(reader, 9)) == (b"rows", b"")
    os.close(reader)
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        checked({"--out": Path("/dev/full")})["--out"].write(b"rows")


def test_standard_output_in_file_is_appended(folder, monkeypatch):
    number = os.open("all.txt", os.O_RDWR | os.O_CREAT)
    monkeypatch.setattr(outputs, "_STANDARD", {number: "standard output"})
    with pytest.raises(ValueError, match=r"--out all\.txt is the target of standard output"):
        checked({"--out": Path("all.txt")})
    output = checked({"--out": Path(f"/dev/fd/{number}")})["--out"]
    os.write(number, b"first ")
    output.write(b"second ")
    os.write(number, b"third")
    os.close(number)
    assert Path("all.txt").read_text() == "first second third"
