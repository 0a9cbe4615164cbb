"""Rows of tables that are parts of one object of `--json`, or are made of several. What a table says beside the fields
themselves (sums, shares, the words of a cell) is made here from the fields alone: a name that begins with `_` is such a
value."""

import re
import statistics
from fractions import Fraction

from units import SLACK


def share(part, whole):
    return Fraction(part) / Fraction(whole) if whole else None


def rows_of_design(one, _):
    return [{"_row": number, "levels": levels} for number, levels in zip(one["row_numbers"], one["rows"], strict=True)]


def kinds(one, objects):
    """Memory by kind at the peak of the row that takes most."""
    memory = one["memory"]
    whole = "static" if memory["arena"] is None else "arena"
    most = max(
        other["memory"][whole] for other in objects if other["kind"] == "estimate" and other["design"] == one["design"]
    )
    if memory[whole] != most:
        raise ValueError(f"another row than {one['levels']} takes most")
    parts = [(name, size) for name, size in memory["kinds"].items() if name != "gaps" and size != 0]
    if whole == "arena":
        parts.append(("gaps", memory["kinds"]["gaps"]))
    parts.append((whole, memory[whole]))
    return [{"_kind": name, "_bytes": size, "_share": share(size, memory[whole])} for name, size in parts]


def recomputed(one, _):
    rows = []
    for block in one["checkpoint"]["blocks"]:
        names = block["operators"]
        more = f", and {len(names) - 4} more" if len(names) > 4 else ""
        rows.append({**block, "_block": block["path"] or "the network", "_which": ", ".join(names[:4]) + more})
    return rows


def bound_text(group):
    if group["compute"] == group["times"]:
        return "compute"
    return f"compute {group['compute']} of {group['times']}" if group["compute"] else "memory"


def roofline(one, _):
    """Steps of one name at one place together, the twelve that take longest; the rest in a line, and the whole."""
    whole, groups, summed = one["roofline"], {}, ("flops", "bytes_moved", "least_seconds")
    for step in whole["operators"]:
        first = {
            "operator": step["operator"],
            "_at": f"{step['file']}:{step['line']}",
            "times": 0,
            "compute": 0,
            "order": 0.0,
        }
        group = groups.setdefault((first["operator"], first["_at"]), {**first, **dict.fromkeys(summed, 0)})
        for field in summed:
            group[field] += step[field]
        group["order"] -= float(step["least_seconds"])  # summed as the table sums it: equals stay as they came
        group["times"] += 1
        group["compute"] += step["bound"] == "compute"
    rows = sorted(groups.values(), key=lambda group: group["order"])
    for row in rows:
        row["_bound"] = (bound_text(row), None)
        row["intensity"] = share(row["flops"], row["bytes_moved"]) or 0
    rest = rows[12:]
    if rest:
        sums = {field: sum(row[field] for row in rest) for field in ("times", *summed)}
        rows[12:] = [{**sums, "operator": f"{len(rest)} others", "_at": None, "_bound": ("", None), "intensity": None}]
    in_compute = share(whole["compute_bound_seconds"], whole["least_seconds"])
    last = {"operator": "step", "_at": None, "times": len(whole["operators"]), "_bound": ("compute", in_compute)}
    rows.append({**whole, **last})
    for row in rows:
        row["_times"], row["_share"] = row["times"], share(row["least_seconds"], whole["least_seconds"])
    return rows


def waterfall(one, _):
    memory = one["memory"]
    cuda = memory["device_at_least"] is not None
    whole = max(1, memory["device_at_least"] if cuda else memory["live"])
    rows = [{"part": part["part"], "bytes": part["bytes"]} for part in memory["waterfall"]["parts"]]
    if one["gpu"] is not None:
        rows.append(
            {"part": "device, at least" if memory["device"] is None else "device", "bytes": memory["device_at_least"]}
        )
    for row in rows:
        row["_share"] = None if row["bytes"] is None else share(row["bytes"], whole)
    return rows


def in_pytorch(one, _):
    memory = one["memory"]
    return {**one, "_device": (memory["device"] is not None, memory["device_at_least"])}


def convolutions(one, _):
    rows = []
    for each in one["convolutions"]:
        direction, _, _, image, weight, _, stride, _, _, _, dilation, _, groups = each["problem"].split(" ")
        stride, text = stride.split(","), f"{image} * {weight}"
        if stride != ["1", "1"]:
            text += f" /{stride[0]}" if stride[0] == stride[1] else " /" + ",".join(stride)
        text += f" dilation {dilation}" if dilation != "1,1" else ""
        text += f" groups {groups}" if groups != "1" else ""
        first = None if each["first"] is None else each["engines"][each["first"]]
        notes = [
            first["notes"] if first else "",
            "fallback" if each["fallback"] else "",
            "" if each["source"] == "cudnn" else each["source"],
        ]
        paths = each["paths"]
        rows.append(
            {
                **each,
                "_convolution": text,
                "_pass": direction.replace("_", " "),
                "_at": f"{each['file']}:{each['line']}",
                "_engines": len(each["engines"]),
                "_in": paths[0] + (f" and {len(paths) - 1} more" if len(paths) > 1 else "") if paths else "",
                "_notes": ", ".join(note for note in notes if note),
            }
        )
        for choice in ("first", "next_smaller", "smallest"):
            at = each[choice]
            rows[-1]["_" + choice] = (at is not None, each["engines"][at] if at is not None else None)
    return rows


def trade(one, _):
    """The step for each choice of engines; of that within a limit with the limit, and what stands behind it."""
    step = one["step"]
    none = sum(each["times"] for each in one["convolutions"] if each["limited"] is None)
    within = " or less" + (f" ({none} have none: their smallest)" if none else "")
    named = [
        ("first", "its first", None),
        ("limited", within, one["workspace_limit"]),
        ("smallest", "its smallest", None),
        ("none", "none at all", None),
    ]
    return [{**step[field], "_engine": (name, limit)} for field, name, limit in named if step[field] is not None]


def next_one(one, _):
    """The answer of `fit`, with the words for why the next level is not taken."""
    if one["failing"] is not None:
        text = f"{one['failing']}: {one['reason']}"
    elif one["bound"] is not None:
        text = f"bounded: {one['bound']} cannot be built: {one['bounded_by']}"
    else:
        text = "not known: the limit of work was reached" if one["ended_by_work"] else f"all up to {2**24} fit"
    return {**one, "_next": text}


def answer(one, _):
    return {**one, "_difference": one.get("difference") or None}


def effects(one, _):
    rows = [
        {**effect, "_factor": effect["factor"], "_range": (one["response"], effect["range"])}
        for effect in one["effects"]
    ]
    found = [each for each in one["interactions"] if each["share"] >= one["cutoff"]]
    for each in sorted(found, key=lambda each: -each["share"]):
        rows.append({**each, "_factor": " x ".join(each["factors"]), "total": None, "_range": (one["response"], None)})
    return rows


def operators(one, _):
    rows = [{**each, "_amount": (one["response"], each["amount"])} for each in one["operators"]]
    shown = [row for row in rows if row["share_most"] >= one["cutoff"]]
    if len(shown) < len(rows):
        shown.append({"operator": f"{len(rows) - len(shown)} others", "share": 0, "_amount": (one["response"], None)})
        shown[-1].update(dict.fromkeys(("_share", "share_least", "share_most")))
    for row in shown:
        row.setdefault("_share", row["share"])
    return shown


def screened(one):
    """The mean, the least and the most, in the response's unit."""
    return {**one, **{"_" + field: (one["response"], one[field]) for field in ("least", "most", "mean")}}


def median(values):
    return statistics.median([Fraction(value) for value in values]) if values else None


def measured(one, objects):
    """A row's repeats together, beside its estimate where the command prints that."""
    same = ("design", "row", "backend", "tune")
    repeats = [
        each for each in objects if each["kind"] == "measure" and all(each[field] == one[field] for field in same)
    ]
    repeats.sort(key=lambda each: each["repeat"])
    if len(repeats) != one["repeats"]:
        raise ValueError(f"{len(repeats)} repeats are {one['repeats']}")
    status = "ok" if repeats else "left"
    for each in repeats:
        if each["status"] != "ok":
            status = f"{each['status']}: {each['reason'][:40]}"
    for each in repeats:
        if status == "ok" and each["loss_not_finite"]:
            status = "ok, loss " + each["loss_not_finite"]
    good = [each for each in repeats if each["status"] == "ok"]
    row = {
        **one,
        "_status": status,
        "_place": one["backend"] + ("" if one["tune"] == "off" else ", tune " + one["tune"]),
        "_latency": median([each["latency"]["median"] for each in good if each["latency"]]),
    }
    of_all = one["latency"] and one["latency"]["median"]
    if (row["_latency"] is None) != (of_all is None) or of_all and abs(row["_latency"] / of_all - 1) > SLACK:
        raise ValueError(f"the median of {one['latency']} is {row['_latency']}")
    for field in ("memory_peak", "arena_peak", "energy"):
        row["_" + field] = median([each[field] for each in good if each[field] is not None])
    estimates = [
        each
        for each in objects
        if each["kind"] == "estimate" and (each["design"], each["row"]) == (one["design"], one["row"])
    ]
    return {**row, "_estimate": estimates[0] if estimates else None}


def terms(one, _):
    return [
        {**term, "_low": term["interval"] and term["interval"][0], "_high": term["interval"] and term["interval"][1]}
        for term in one["terms"]
    ]


def raw_terms(one, _):
    return one["raw"]


def compared(one, _):
    def described(dtype, shape):
        return dtype and f"{dtype} [{', '.join(map(str, shape))}]"

    return [
        {
            **each,
            "_file": described(each["file_dtype"], each["file_shape"]),
            "_network": described(each["dtype"], each["shape"]),
        }
        for each in one["arrays"]
    ]


def replayed(one, _):
    return {**one, "_options": ("recorded: " if one["recorded"] else "") + (one["options"] or "none")}


def case_row(one, _):
    return {**one, "levels": one["inputs"]}


def not_passed(one, _):
    """Of a run, the cases that a program did not pass."""
    return None if one.get("verdict") == "passed" else case_row(one, None)


def named_steps(one, _):
    """Steps of a profile by what they are. Times are those of another run: what a step does in its time is not."""
    groups = {}
    for step in one["steps"]:
        group = groups.setdefault((step["name"], step["implementation"]), {"flops": 0, "bytes": 0, "_steps": 0})
        group["flops"] += step["flops"]
        group["bytes"] += step["bytes"]
        group["_steps"] += 1
    return [
        {**group, "name": name, "implementation": made, "_flops": group["flops"] or None, "_bytes": group["bytes"]}
        for (name, made), group in groups.items()
    ]


def single_steps(one, _):
    return [{**step, "_flops": step["flops"] or None, "_bytes": step["bytes"]} for step in one["steps"]]


def device_row(one, _):
    beside = [one[field] for field in ("context", "handles", "kernels")]
    return {
        **one,
        "_name": f"`{one['name']}`",
        "_clocks": [one["clock"], one["memory_clock"]],
        "_beside": None if None in beside else (beside, one["measured"]),
        **{"_" + name: one["rates"].get(name) for name in ("f64", "f32", "tf32", "bf16", "f16")},
    }


def signature_row(one, _):
    """An operator or a block; of what is said of it the first sentence."""
    said = one.get("documentation", "").replace("\n", " ")
    end = re.search(r"\. (?=[`A-Z])", said)
    return {**one, "_signature": f"`{one['signature']}`", "_sentence": said[: end.start() + 1] if end else said}


def offsets(one, _):
    return [{"_id": name, "_offset": offset} for name, offset in one["offsets"].items()]
