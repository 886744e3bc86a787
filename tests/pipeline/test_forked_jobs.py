"""Scripts of the workflow in forks: their inputs, and the effect of a failure."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.benchmark import BenchmarkRecord

from shuffledp.pipeline import forked_jobs


def run(folder: Path, text: str, **given: object) -> SimpleNamespace:
    path = folder / "tmp1.run_method.py"
    path.write_text(text)
    script = SimpleNamespace(**{"resources": {"tmpdir": str(folder)}, "bench_record": None, **given})
    forked_jobs.execute_script(script, str(path))
    return script


def test_a_script_is_the_main_module_of_a_process_that_has_imported_the_library(tmp_path):
    run(
        tmp_path,
        "import os, sys, tempfile\n"
        "from pathlib import Path\n"
        "assert __name__ == '__main__' and sys.argv == [__file__]\n"
        "assert {'scipy.stats', 'shuffledp.pipeline.experiments.runner'} < set(sys.modules)\n"
        "said = [os.getpid(), Path('/proc/self/comm').read_text().strip(), tempfile.gettempdir()]\n"
        "Path(__file__).with_name('said').write_text('\\n'.join(map(str, said)))\n",
    )
    pid, name, folder = (tmp_path / "said").read_text().split("\n")
    assert int(pid) != os.getpid()
    assert (name, folder) == ("run_method", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("raise ValueError('no')", 1),
        ("import sys; sys.exit(3)", 3),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9),
    ],
)
def test_a_script_that_fails_raises_with_its_exit_code(tmp_path, text, code):
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(tmp_path, text)
    assert caught.value.returncode == code


def test_many_short_scripts_at_once_all_end_well_and_are_measured(tmp_path):
    def one(number: int) -> BenchmarkRecord:
        (folder := tmp_path / str(number)).mkdir()
        return run(folder, "sum(range(10**6))", bench_record=BenchmarkRecord()).bench_record

    with ThreadPoolExecutor(8) as pool:
        records = list(pool.map(one, range(40)))
    for record in records:
        assert 0 < record.cpu_time < record.running_time
        assert 20 < record.max_rss < 1000
    assert records[0].to_tsv(extended_fmt=False).split("\t")[2:4] == [f"{records[0].max_rss:.2f}", "-"]
