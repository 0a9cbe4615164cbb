"""How numbers and words stand in cells, and whether a cell says a value.

A number is read in the format that runtime/report/Numbers.h promises, and is right if the exact one lies within half a
unit of the last digit that this format prints. Values of `--json` are exact: whole numbers, or fractions.
"""

import math
import re
from fractions import Fraction

SLACK = Fraction(1, 2**49)  # of a double that was divided by its unit before it was rounded
NARROW = "\u202f"


class Unit:
    """How a value stands in a cell. `described`: the units that docs/schemas may give it. `absent`: the text for null."""

    described = (None,)

    def __init__(self, absent=""):
        self.absent = absent

    def wrong(self, text, value):
        """Why `text` does not say `value`; None: it does."""
        if value is None or text == self.absent:
            return None if text == self.absent and value in (None, text) else f"`{text}` stands for {value}"
        return self.differs(text, value)

    def differs(self, text, value):
        raise NotImplementedError

    @staticmethod
    def beyond(text, shown, value, half):
        """`shown`: the number that `text` says, rounded to no more than `half` on either side."""
        far = abs(Fraction(shown) - Fraction(value))
        if far <= half + abs(Fraction(value)) * SLACK:
            return None
        return f"`{text}` is {float(far):.6g} from {float(value):.12g}, its rounding is {float(half):.6g} at most"


class Text(Unit):
    def differs(self, text, value):
        return None if text == value else f"`{text}` is not `{value}`"


class Shape(Unit):
    described = ("count",)

    def differs(self, text, value):
        return Text().differs(text, "[" + ", ".join(map(str, value)) + "]")


class Truth(Unit):
    def differs(self, text, value):
        return Text().differs(text, "yes" if value else "no")


class Place(Unit):
    """FILE:LINE:COLUMN, of which JSON has FILE:LINE."""

    def differs(self, text, value):
        return None if re.fullmatch(re.escape(value) + r":\d+", text) else f"`{text}` is not in {value}"


class Flag(Unit):
    """Words that are there where the value is `says`."""

    def __init__(self, says=True):
        super().__init__()
        self.says = says

    def wrong(self, text, value):
        return None if (text != "") == (value == self.says) else f"`{text}` stands for {value}"


class Length(Unit):
    """How many there are."""

    def differs(self, text, value):
        return Text().differs(text, str(len(value)))


class Level(Unit):
    """A level of a factor, or a value of a process: a number exactly, or a word."""

    def differs(self, text, value):
        if isinstance(value, bool):
            return Text().differs(text, "true" if value else "false")
        if isinstance(value, list):
            inside = re.fullmatch(r"\[(.*)\]|\{(.*)\}", text)
            parts = [part for part in (inside[1] or inside[2] or "").split(", ") if part] if inside else []
            if len(parts) != len(value):
                return f"`{text}` is not {value}"
            return next((why for why in map(self.differs, parts, value) if why), None)
        if isinstance(value, str):
            return Text().differs(text, value)
        try:
            return self.beyond(text, Fraction(text), value, 0)
        except ValueError:
            return f"`{text}` is not the number {value}"


class Levels(Unit):
    """`batch=4 depth=11`: the levels of a row in a sentence. Levels that are absent are left out."""

    def __init__(self, is_="=", then=" "):
        super().__init__()
        self.is_, self.then = is_, then

    def differs(self, text, value):
        there = {name: level for name, level in value.items() if level is not None}
        if not there:
            return Text().differs(text, "one row")
        names = list(there)
        pattern = self.then.join(re.escape(name + self.is_) + "(.*)" for name in names)
        found = re.fullmatch(pattern, text)
        if found is None:
            return f"`{text}` are not the levels {there}"
        return next((why for why in map(Level().differs, found.groups(), there.values()) if why), None)


class Whole(Unit):
    described = (None, "count")

    def differs(self, text, value):
        return Text().differs(text, str(value))


class WholeBytes(Whole):
    described = ("bytes",)


class Ordinal(Unit):
    """Counted from 0 in JSON, from 1 in tables."""

    def differs(self, text, value):
        return Text().differs(text, str(value + 1))


class Grouped(Unit):
    """report::grouped: groups of three from five digits on."""

    described = (None, "count")

    def differs(self, text, value):
        if not re.fullmatch(rf"-?(\d{{1,4}}|\d{{1,3}}({NARROW}\d{{3}})+)", text) or re.match(
            rf"-?\d{NARROW}\d{{3}}$", text
        ):
            return f"`{text}` is no whole number in groups of three"
        return self.beyond(text, int(text.replace(NARROW, "")), value, Fraction(1, 2))


class Scaled(Unit):
    """Four digits in the largest unit that is not above the number; whole in the unit of size 1."""

    signed = False
    units = {}

    def differs(self, text, value):
        found = re.fullmatch(r"(-?)(\d+)(?:\.(\d+))? (\S+)", text)
        if found is None or found[4] not in self.units or (found[1] and not self.signed):
            return f"`{text}` is no {type(self).__name__.lower()}"
        sizes = sorted(self.units.values())
        size, behind = self.units[found[4]], found[3] or ""
        shown = Fraction(found[2] + "." + (behind or "0"))
        digits = len(found[2] + behind)
        whole = behind == "" and size == 1
        if digits != 4 and not (whole and digits < 4):
            return f"`{text}` has {digits} digits, not 4"
        if (size != sizes[-1] and shown * size >= sizes[sizes.index(size) + 1]) or (size != sizes[0] and 0 < shown < 1):
            return f"`{text}` is in the wrong unit"
        half = Fraction(1, 2 * 10 ** len(behind)) * size
        return self.beyond(text, shown * size * (-1 if found[1] else 1), value, half)


class Bytes(Scaled):
    described = ("bytes",)
    units = {name: 1024**power for power, name in enumerate(["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])}


class SignedBytes(Bytes):
    signed = True


class ResponseBytes(SignedBytes):
    """In the unit of a regression's response or of a budget, which is bytes."""

    described = (None,)


class Flops(Scaled):
    described = ("FLOPs",)
    units = {name + "FLOP": 1000**power for power, name in enumerate(["", "k", "M", "G", "T", "P", "E"])}


class Joules(Scaled):
    described = ("joules",)
    units = {"µJ": Fraction(1, 10**6), "mJ": Fraction(1, 1000), "J": 1, "kJ": 1000, "MJ": 10**6}


class Seconds(Scaled):
    described = ("seconds",)
    units = {"ns": Fraction(1, 10**9), "µs": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": 1}

    def differs(self, text, value):
        parts = re.fullmatch(r"(\d+) (min|h|d) (\d+) (s|min|h)", text)
        if parts is None:
            return super().differs(text, value)
        sizes = {"s": 1, "min": 60, "h": 3600, "d": 86400}
        shown = int(parts[1]) * sizes[parts[2]] + int(parts[3]) * sizes[parts[4]]
        return self.beyond(text, shown, value, Fraction(sizes[parts[4]], 2))


class Significant(Unit):
    """report::number: so many significant digits, without zeros at the end."""

    def __init__(self, digits, suffix="", scale=1, absent="", described=(None,)):
        super().__init__(absent)
        self.digits, self.suffix, self.scale, self.described = digits, suffix, scale, described

    def half(self, value):
        size = abs(value)
        if size == 0:
            return Fraction(0)
        power = math.floor(math.log10(size))
        if Fraction(1, 10**4) <= size < 10**7:  # no digit before the point is ever left out
            return Fraction(1, 2 * 10 ** max(0, self.digits - 1 - power))
        return Fraction(10) ** (power + 1 - self.digits) / 2

    def differs(self, text, value):
        if not text.endswith(self.suffix) or not re.fullmatch(
            r"-?\d+(\.\d+)?(e[-+]\d+)?", text.removesuffix(self.suffix)
        ):
            return f"`{text}` is no number{self.suffix}"
        value = Fraction(value) * self.scale
        return self.beyond(text, Fraction(text.removesuffix(self.suffix)), value, self.half(value))


class General(Significant):
    """{:.6g} and its like: digits before the point are rounded too."""

    def half(self, value):
        return Fraction(10) ** (math.floor(math.log10(abs(value))) + 1 - self.digits) / 2 if value else Fraction(0)


class Percent(Significant):
    def __init__(self, absent=""):
        super().__init__(3, " %", 100, absent, ("share", None))


class Fixed(Unit):
    """So many digits behind the point."""

    def __init__(self, behind, suffix="", scale=1, absent="", described=(None,)):
        super().__init__(absent)
        self.behind, self.suffix, self.scale, self.described = behind, suffix, scale, described

    def differs(self, text, value):
        if not re.fullmatch(rf"-?\d+\.\d{{{self.behind}}}" + re.escape(self.suffix), text):
            return f"`{text}` has not {self.behind} digits behind the point"
        return self.beyond(
            text,
            Fraction(text.removesuffix(self.suffix)),
            Fraction(value) * self.scale,
            Fraction(1, 2 * 10**self.behind),
        )


class Bar(Unit):
    """A share as a bar of 40 columns at most: report::bar, in ASCII."""

    described = ("share",)

    def wrong(self, text, value):
        if text.strip("#"):
            return f"`{text}` is no bar"
        if value <= 0 or len(text) == 1:
            return (
                None
                if (value > 0) == (text != "") and value * 40 <= Fraction(3, 2)
                else f"`{text}` stands for {float(value)}"
            )
        return self.beyond(text, len(text), min(Fraction(value), 1) * 40, Fraction(1, 2))


class ByWord(Unit):
    """The unit depends on another value: give it as a pair of word and value."""

    def __init__(self, units):
        super().__init__()
        self.units = units

    def wrong(self, text, value):
        word, number = value
        return self.units[word].wrong(text, number)


class AtLeast(Unit):
    """`at least 1.500 GiB`, or without these words where it is all: a pair of whether it is, and bytes."""

    def wrong(self, text, value):
        complete, number = value
        if text.startswith("at least ") == complete:
            return f"`{text}` stands for what is {'all' if complete else 'not all'}"
        return Bytes().wrong(text.removeprefix("at least "), number)


class Bound(Unit):
    """What bounds a step; of all steps the share of the time that is bound by arithmetic."""

    def wrong(self, text, value):
        word, share = value
        if share is None:
            return Text().wrong(text, word)
        return Percent().wrong(text.removeprefix(word + " "), share)


class Engine(Unit):
    """An engine's number, if it has one, and its workspace. `none`: what stands where there is none."""

    described = (None,)

    def wrong(self, text, value):
        there, engine = value
        if not there:
            return Text().wrong(text, self.absent)
        number = "" if engine["engine"] is None else f"{engine['engine']}: "
        return Bytes().wrong(text.removeprefix(number), engine["workspace"])


class Choice(Unit):
    """The name of a choice of engines; that within a limit says the limit."""

    def wrong(self, text, value):
        name, limit = value
        if limit is None:
            return Text().wrong(text, name)
        if not text.startswith("its first of ") or not text.endswith(name):
            return f"`{text}` does not end in `{name}`"
        return Bytes().wrong(text.removeprefix("its first of ").removesuffix(name), limit)


class Several(Unit):
    """Values with a comma between."""

    def __init__(self, unit):
        super().__init__()
        self.unit = unit

    def differs(self, text, value):
        parts = text.split(", ")
        if len(parts) != len(value):
            return f"`{text}` is not {value}"
        return next((why for why in map(self.unit.wrong, parts, value) if why), None)


class Beside(Unit):
    """What a process takes beside its tensors, and how that was measured."""

    def differs(self, text, value):
        parts, how = value
        if not text.endswith(f" ({how})"):
            return f"`{text}` does not end with how it was measured"
        return Several(Bytes()).differs(text.removesuffix(f" ({how})"), parts)


class Quotient(Unit):
    """A rate where times are those of another run than JSON's: times the time beside it, it is the amount."""

    def wrong(self, text, value, time=None):
        if text == "" or value is None:
            return None if text == "" and (value is None or time.startswith("0")) else f"`{text}` stands for {value}"
        number, unit = time.split(" ")
        seconds = Fraction(number) * Seconds.units[unit]
        half = Fraction(1, 2 * 10 ** len(number.partition(".")[2])) * Seconds.units[unit]
        rate, off = Fraction(text) * 10**9, Significant(3).half(Fraction(text)) * 10**9
        low, high = (rate - off) * (seconds - half), (rate + off) * (seconds + half)
        return (
            None
            if low <= value <= high
            else f"`{text}` in `{time}` is {float(low):.6g} to {float(high):.6g}, not {float(value):.6g}"
        )


class Unsaid(Unit):
    """A column that JSON does not have, and why: its text is not compared."""

    def __init__(self, why):
        super().__init__()
        self.why = why

    def wrong(self, text, value):
        return None
