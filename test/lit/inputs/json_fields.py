#!/usr/bin/env python3
"""Reads JSON lines and checks the fields that other programs rely on."""
import json
import sys

FIELDS = {
    "design": ["design", "array", "runs", "strength", "rows", "checks"],
    "estimate": ["design", "row", "network", "levels", "parameters", "buffers", "flops", "memory", "device"],
    "measure": ["levels", "backend", "memory_peak", "memory_baseline", "arena_peak", "latency", "energy", "energy_reason", "status",
                "reason", "repeat", "load", "loss_not_finite", "reused"],
    "measured": ["design", "row", "levels", "backend", "tune", "repeats", "asked", "latency", "repeats_differ", "busy_repeats",
                 "load_most"],
    "regress": ["name", "design", "backend", "response", "terms", "raw", "r2", "loo_rmse", "loo_relative_error"],
    "pytorch": ["design", "row", "network", "levels", "device", "gpu", "version", "alloc_conf", "optimizer", "memory", "limit"],
    "fit": ["design", "levels", "factor", "backend", "limit", "reserve", "upper", "largest", "none_above", "memory", "failing", "reason", "checked_from", "tried",
            "bound", "bounded_by", "ended_by_work"],
    "what-if": ["design", "row", "levels", "question", "name", "allocated", "reserved", "takes", "reserve", "complete"],
    "predict": ["name", "backend", "levels", "value", "interval", "inside"],
    "profile": ["network", "backend", "threads", "seconds", "steps"],
    "step": ["network", "loss", "seconds", "saved"],
    "check": ["code", "severity", "message", "file", "line", "column", "end_line", "end_column", "levels", "labels", "notes", "fix"],
    "emit": ["as", "network", "text"],
    "fmt": ["file", "changed", "text"],
    "spec": ["process", "file", "line", "pre", "scenarios", "findings"],
    "levels": ["design", "verdict", "combinations", "rows", "structures", "conditions", "by_intervals", "points", "breaches",
               "checked_at_run_time"],
    "network": ["network", "at", "sizes", "verdict", "conditions", "breaches", "checked_at_run_time"],
    "residual": ["count", "conditions", "networks", "designs", "strict"],
    "graph": ["network", "inputs", "outputs"],
    "workspace": ["design", "row", "network", "levels", "device", "answers", "layout", "tf32", "nondeterministic", "convolutions",
                  "not_asked", "step"],
    "doc": ["name", "what", "documentation"],
    "operator": ["name", "signature", "backends", "gradient", "cost"],
    "block": ["name", "signature", "documentation"],
    "device": ["name", "called", "compute_capability", "memory", "bandwidth", "multiprocessors", "clock", "memory_clock", "l2",
               "rates", "context", "handles", "kernels", "measured"],
}
NESTED = {
    "flops": ["forward", "backward", "optimizer", "step", "by_operator"],
    "memory": ["static", "live", "arena", "kinds", "peak_at"],
}

kinds = set()
for line in sys.stdin:
    row = json.loads(line)
    kind = row["kind"]
    kinds.add(kind)
    missing = [field for field in ["schema", *FIELDS[kind]] if field not in row]
    if kind == "estimate":
        missing += [f"{outer}.{inner}" for outer, names in NESTED.items() for inner in names if inner not in row[outer]]
        names = ["weights", "gradients", "optimizer", "buffers", "activations", "input", "constants", "workspace", "gaps"]
        missing += [f"kinds.{name}" for name in names if name not in row["memory"]["kinds"]]
    if missing:
        sys.exit(f"{kind} lacks {missing}")
print(" ".join(sorted(kinds)) + ": all fields there")
