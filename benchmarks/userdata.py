"""Counts of many rows in Parquet and CSV files, and the same counts by plain pyarrow and pandas.

``ROWS=1000000000 asv run --bench userdata`` counts a billion rows: 2 GB of Parquet files.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from shuffledp.userdata.counting import count_column

ROWS, FILES = int(os.environ.get("ROWS", 10**7)), 100
NAMES = [f"color{i:02d}" for i in range(100)]


class Rows:
    """Rows of a color with shares proportional to 1, 1/2, 1/3, .. and a number of minutes, in 100 files."""

    timeout, number, repeat = 3600, 1, 1

    def setup_cache(self) -> None:
        shares = 1 / np.arange(1, len(NAMES) + 1)
        Path("data").mkdir()
        for part in range(FILES):
            rng = np.random.default_rng((1, part))
            colors = rng.choice(len(NAMES), ROWS // FILES, p=shares / shares.sum()).astype(np.int8)
            minutes = np.rint(rng.exponential(20, colors.size)).astype(np.int16)
            columns = {"color": pa.DictionaryArray.from_arrays(colors, NAMES), "minutes": minutes}
            pq.write_table(pa.table(columns), f"data/part-{part:03d}.parquet")

    def time_values(self) -> None:
        count_column("data/*.parquet", "color", values=NAMES)

    peakmem_values = time_values

    def time_numbers(self) -> None:
        count_column("data/*.parquet", "minutes", max_value=120)

    def time_pyarrow(self) -> None:
        batches = ds.dataset("data").to_batches(columns=["color"])
        pa.concat_arrays(pc.value_counts(batch["color"].dictionary_decode()) for batch in batches)

    def time_pandas(self) -> None:
        for path in Path("data").iterdir():
            pd.read_parquet(path, columns=["color"])["color"].value_counts()
