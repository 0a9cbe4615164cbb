"""What is said of a table: its object, its columns, and fields that many tables have."""

from dataclasses import dataclass, field
from typing import Callable

from units import Level, Levels, Ordinal, Text


@dataclass
class Table:
    """A table that a command prints, or a line that says the fields of an object (then its words are the columns).

    `columns`: title -> (field, unit); "*" are the factors of a design, "<factor>" has the title that this field is.
    `kind`: of which objects it is: those of which `only` holds, and what the title says by its groups in `pick`.
    `said`: the other groups of the title, and their fields.
    `each`: each object is a row, which `rows` makes of it and of all objects; else `rows` makes the rows of one object.
    """

    kind: str
    title: str | None  # a pattern; None: there is no line above
    columns: dict
    pick: dict = field(default_factory=dict)
    said: dict = field(default_factory=dict)
    only: dict = field(default_factory=dict)
    rows: Callable = lambda one, _: one
    heads: Callable = lambda one: one  # an object with what its title says beside its fields
    each: bool = True
    base: str = ""  # the path of a row in the schema
    key: tuple = ()  # columns by which rows are found, where two runs order them in two ways


DESIGN = {"design": ("design", Text())}
LEVELS = {"levels": ("levels", Levels())}
FACTORS = {"*": ("levels", Level("-"))}
INPUTS = {"*": ("levels", Level())}
ROW = {"row": ("row", Ordinal()), **FACTORS}
