"""Start of the library and of the command line in a new process."""


def timeraw_library() -> str:
    return "import shuffledp.accounting, shuffledp.protocols"


def timeraw_accountant() -> str:
    return "import shuffledp.accountant as q; q.amplification, q.budget, q.smallest_batch"


def timeraw_command_line() -> str:
    return "import shuffledp.cli"
