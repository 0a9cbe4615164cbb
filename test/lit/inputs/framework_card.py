#!/usr/bin/env python3
"""Runs the card's part of tools/runners/framework.py with a PyTorch that notes what it is asked, and whose clock says what it is told.

usage: framework_card.py tools/runners/framework.py tools/runners/meters.py
"""
import ctypes
import importlib.util
import os
import sys
import time
import types

spec = importlib.util.spec_from_file_location("framework", sys.argv[1])
framework = importlib.util.module_from_spec(spec)
spec.loader.exec_module(framework)
sys.argv[1] = open(sys.argv[2], encoding="utf-8").read()  # as the runner gets it


class Card:
    """torch, as far as a CardClock and the memory of a row ask it."""

    def __init__(self, seconds, room=1 << 20):
        self.notes, self.steps, self.taken = [], 0, 1000
        card = self

        class Event:
            made = 0

            def __init__(self, enable_timing):
                assert enable_timing
                self.name = ("begin", "end")[Event.made]
                Event.made += 1

            def record(self):
                card.notes.append(self.name)

            def elapsed_time(self, end):
                assert (self.name, end.name) == ("begin", "end") and card.notes[-1] == "wait"
                return seconds(card.steps - 1) * 1e3

        class OutOfMemoryError(Exception):
            pass

        def empty(count, dtype, device):
            if count > room:
                raise OutOfMemoryError
            card.taken += count
            return types.SimpleNamespace(zero_=lambda: card.notes.append(f"zeros {count}"))

        self.uint8, self.empty = None, empty
        self.cuda = types.SimpleNamespace(
            current_device=lambda: 0, Event=Event, OutOfMemoryError=OutOfMemoryError, get_device_properties=lambda device: types.SimpleNamespace(L2_cache_size=50),
            mem_get_info=lambda device: (10000 - card.taken, 10000), max_memory_allocated=lambda device: card.taken,
            max_memory_reserved=lambda device: card.taken)

    def step(self):
        time.sleep(0.001)  # five are a window then, at the least
        self.steps += 1
        self.notes.append("step")


def row_on(card):
    """A framework's part of a row on this card."""
    row = framework.PyTorch.__new__(framework.PyTorch)
    row.torch, row.device = card, types.SimpleNamespace(type="cuda")
    row.finish = lambda result: card.notes.append("wait")
    return row


def samples_of(card, protocol):
    row = row_on(card)
    return row.clock().samples(card.step, row, protocol)


PROTOCOL = {"steps": 20, "min_seconds": 0.0, "max_steps": 20}
LONG = {"steps": 20, "min_seconds": 0.04, "max_steps": 20}

card = Card(lambda step: max(8 / 2 ** (step // 5), 0.5) * 1e-3)
samples = samples_of(card, LONG)
print(f"settled behind {card.steps - len(samples)} steps, then {len(samples)} timed: {sorted(set(samples))}")
print("a step:", ", ".join(card.notes[:5]))
card = Card(lambda step: 1e-3, room=99)
samples_of(card, PROTOCOL)
print("without room:", ", ".join(card.notes[:4]))
card = Card(lambda step: 1e-3 if step // 5 % 2 else 2e-3)
samples_of(card, {**PROTOCOL, "min_seconds": 0.01})
print("never settled: ends")


def told_of(protocol):
    """A whole row."""
    card = Card(lambda step: 1e-3)
    row = row_on(card)
    row.set_up, row.baseline, row.threads, row.machine = lambda program: card.step, lambda: None, lambda: 1, lambda: "a card"
    framework.load_program = lambda path: None
    return framework.measure(row, {"program": "", "threads": 1, "protocol": {"warmup": 1, **protocol}})


# The memory that timing takes is none of the step's.
told = told_of(PROTOCOL)
assert told["samples"] == [1e-3] * 20, told
print(f"memory of the step: {told['device_peak']} bytes")

# Energy, beside a card of 100 W whose counter moves every 100 ms.
print("not asked for:", told["energy_reason"])
assert ctypes.CDLL("libcuda.so.1").cuInit(0) == 0
ENERGY = {"steps": 20, "min_seconds": 5.25, "max_steps": 1 << 32}
os.environ["TBEM_NVML_WATTS"] = "none"
print("no counter:", told_of(ENERGY)["energy_reason"])
os.environ["TBEM_NVML_WATTS"] = "100"
told = told_of(ENERGY)
assert "energy_reason" not in told and 85 <= told["idle_power"] <= 115, told
assert 0.1 <= told["energy"] <= 2 and abs(told["energy_dynamic"]) <= 0.15 * told["energy"], told  # a step sleeps for a millisecond
print("a step takes what the card takes at rest")
