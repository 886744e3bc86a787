"""Build of the article from the results of a run: ``make -C tools paper``.

The article reads results by name. The build fails if a file, row or column is missing.
"""

import sys
from pathlib import Path

import typst

ROOT = Path(__file__).resolve().parent.parent


def build(results: Path, source: Path = ROOT / "paper/paper.typ") -> bytes:
    """Return the PDF of the article with the results in a folder."""
    root = Path(results.resolve().anchor)
    return typst.compile(
        source, root=root, ignore_system_fonts=True, sys_inputs={"results": str(results.resolve())}
    )


if __name__ == "__main__":
    try:
        pdf = build(Path(sys.argv[1]))
    except typst.TypstError as error:
        sys.exit(f"The paper needs the results of a complete run in {sys.argv[1]}: {error}")
    (ROOT / "paper/paper.pdf").write_bytes(pdf)
    print("paper/paper.pdf")
