"""The five data sets: raw files with checksums of their decompressed content, sources, licenses, citations."""

from __future__ import annotations

from dataclasses import dataclass

ADULT_RECORDS = 48_842
IPUMS_RECORDS = 70_187
BIRTHPLACE_DOMAIN = 900
MSNBC_RECORDS = 989_818
MOVIELENS_MOVIES = 26_744
MOVIELENS_RATINGS = 20_000_263
MSNBC_CATEGORIES = (
    "frontpage",
    "news",
    "tech",
    "local",
    "opinion",
    "on-air",
    "misc",
    "weather",
    "msn-news",
    "health",
    "living",
    "business",
    "msn-sports",
    "sports",
    "summary",
    "bbs",
    "travel",
)


@dataclass(frozen=True)
class RawFile:
    """Raw file of a data set, with its checksum."""

    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class UciRepo:
    """The UCI repository through the package ``ucimlrepo``."""

    id: int
    page: str
    urls: tuple[str, ...] = ("https://archive.ics.uci.edu/api/dataset",)


@dataclass(frozen=True)
class Archive:
    """Zip file with the raw files; each has one of several member names."""

    url: str
    members: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def urls(self) -> tuple[str, ...]:
        """All URLs of this source."""
        return (self.url,)


@dataclass(frozen=True)
class Files:
    """Folder URL where every raw file has its own name."""

    base: str

    @property
    def urls(self) -> tuple[str, ...]:
        """The URL of the folder."""
        return (self.base,)


@dataclass(frozen=True)
class RatingsArchive:
    """MovieLens zip, which is counted per movie and then deleted, because the ratings must not be kept."""

    url: str
    sha256: str
    bytes: int
    member: str

    @property
    def urls(self) -> tuple[str, ...]:
        """All URLs of this source."""
        return (self.url,)


Source = UciRepo | Archive | Files | RatingsArchive


@dataclass(frozen=True)
class DatasetSpec:
    """Description of one data set."""

    name: str
    title: str
    variants: tuple[tuple[RawFile, ...], ...]
    sources: tuple[Source, ...]
    licence: str
    citation: str
    extension: str = "parquet"

    @property
    def raw_files(self) -> tuple[RawFile, ...]:
        """Files of a mirror."""
        return self.variants[0]

    def raw_file(self, name: str) -> RawFile:
        """Return the raw file with this name. Raise ``KeyError`` if there is none."""
        return {file.name: file for variant in self.variants for file in variant}[name]


_UCI = "https://archive.ics.uci.edu"

_ADULT = DatasetSpec(
    name="adult",
    title="Adult",
    variants=(
        (
            RawFile(
                "adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", 3_974_305
            ),
            RawFile(
                "adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05", 2_003_153
            ),
        ),
        # What is kept of a table read through ucimlrepo: persons per (sex, hours per week).
        (
            RawFile(
                "adult-counts.csv", "9fb4129658879ba97f1713de742bdde108dc323a04c4c72ea717e31cb8ce88fe", 2_103
            ),
        ),
    ),
    sources=(
        UciRepo(2, f"{_UCI}/dataset/2/adult"),
        Archive(
            f"{_UCI}/static/public/2/adult.zip",
            (("adult.data", ("adult.data",)), ("adult.test", ("adult.test",))),
        ),
        Files(f"{_UCI}/ml/machine-learning-databases/adult"),
    ),
    licence="CC BY 4.0",
    citation="Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20",
)

_MSNBC = DatasetSpec(
    name="msnbc",
    title="MSNBC",
    variants=(
        (
            RawFile(
                "msnbc990928.seq.gz",
                "982d85eb7aff1744e64d8bfadb21f53fb921b79d53b6305d4df232da59f218fe",
                12_581_691,
            ),
        ),
    ),
    sources=(
        Archive(
            f"{_UCI}/static/public/133/msnbc+com+anonymous+web+data.zip",
            (("msnbc990928.seq.gz", ("msnbc990928.seq.gz", "msnbc990928.seq")),),
        ),
        Files(f"{_UCI}/ml/machine-learning-databases/msnbc-mld"),
    ),
    licence="CC BY 4.0",
    citation=(
        "Heckerman, D. MSNBC.com Anonymous Web Data (28 September 1999). UCI Machine Learning Repository, "
        "https://archive.ics.uci.edu/dataset/133"
    ),
)

_IPUMS = DatasetSpec(
    name="ipums",
    title="IPUMS Los Angeles 1970",
    variants=(
        (
            RawFile(
                "ipums.la.97.gz",
                "1f99255be41556c270d763b21baf34736abf30f6bc2400b5947a22cf868a84cf",
                13_616_278,
            ),
        ),
    ),
    sources=(
        Archive(
            f"{_UCI}/static/public/127/ipums+census+database.zip",
            (("ipums.la.97.gz", ("ipums.la.97.gz", "ipums.la.97.gz.old", "ipums.la.97")),),
        ),
        Files(f"{_UCI}/ml/machine-learning-databases/ipums-mld"),
        Files("http://kdd.ics.uci.edu/databases/ipums"),
    ),
    licence="IPUMS license: use and distribution permitted free of charge, with citation",
    citation=(
        "Ruggles, S., Sobek, M. et al. (1997). Integrated Public Use Microdata Series: Version 2.0. "
        "Minneapolis: Historical Census Projects, University of Minnesota. http://www.ipums.umn.edu/"
    ),
)

_MNIST = DatasetSpec(
    name="mnist",
    title="MNIST",
    variants=(
        (
            RawFile(
                "train-images-idx3-ubyte.gz",
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                47_040_016,
            ),
            RawFile(
                "train-labels-idx1-ubyte.gz",
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                60_008,
            ),
            RawFile(
                "t10k-images-idx3-ubyte.gz",
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                7_840_016,
            ),
            RawFile(
                "t10k-labels-idx1-ubyte.gz",
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                10_008,
            ),
        ),
    ),
    sources=(
        Files("https://ossci-datasets.s3.amazonaws.com/mnist"),
        Files("https://storage.googleapis.com/cvdf-datasets/mnist"),
    ),
    licence="CC BY-SA 3.0 (as commonly stated; the files carry no statement)",
    citation=(
        "LeCun, Y., Cortes, C. and Burges, C. J. C. (1998). The MNIST database of handwritten digits. "
        "http://yann.lecun.com/exdb/mnist/"
    ),
    extension="npz",
)

_MOVIELENS = DatasetSpec(
    name="movielens",
    title="MovieLens 20M",
    variants=(
        (
            RawFile(
                "ml-20m-rating-counts.csv",
                "1185d68c22eecfcb73a91bcf526ebffd73603e38c721948ea5f1ad92e019819d",
                238_616,
            ),
        ),
    ),
    sources=(
        RatingsArchive(
            "https://files.grouplens.org/datasets/movielens/ml-20m.zip",
            "96f243c338a8665f6bcc89c53edf6ee39162a846940de6b7c8c48aeada765ff3",
            198_702_078,
            "ml-20m/ratings.csv",
        ),
    ),
    licence="GroupLens license: research use with acknowledgment, not commercial, not to be redistributed",
    citation=(
        "Harper, F. M. and Konstan, J. A. (2015). The MovieLens Datasets: History and Context. "
        "ACM TiiS 5(4), article 19. doi:10.1145/2827872"
    ),
)

CATALOGUE = {item.name: item for item in (_ADULT, _MSNBC, _IPUMS, _MNIST, _MOVIELENS)}
NAMES = tuple(CATALOGUE)


def spec(name: str) -> DatasetSpec:
    """Return the data set with this name. Raise ``ValueError`` with the known names otherwise."""
    try:
        return CATALOGUE[name]
    except KeyError:
        raise ValueError(f"No data set named {name!r}. Known: {', '.join(NAMES)}.") from None
