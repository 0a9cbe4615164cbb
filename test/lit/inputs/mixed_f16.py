"""usage: mixed_f16.py near FOLDER: holds what trainings of mixed_f16.tbem ended with against each other. FOLDER/json is what they said."""
import json
import sys

import numpy as np

from safetensors_file import read

folder = sys.argv[2]
trained = {row["name"]: row for row in map(json.loads, open(folder + "/json", encoding="utf-8")) if row["kind"] == "trained"}


def arrays(name):
    made = read(f"{folder}/m.out/{name}.safetensors")
    return {path: np.frombuffer(data, "<f4").astype(np.float64) for path, (dtype, _, data) in made.items() if dtype == "F32"}


def weights(name):
    return np.concatenate([values for path, values in sorted(arrays(name).items()) if path.startswith("weight/")])


def states(name, word):
    return {path[len("state/"):-len(word) - 1]: values.item() for path, values in arrays(name).items() if path.endswith("." + word)}


for half, whole in (("half", "whole"), ("in_parts", "whole"), ("in_turns", "turning")):
    far = np.linalg.norm(weights(half) - weights(whole)) / np.linalg.norm(weights(whole))
    loss, exact = trained[half]["test_loss"], trained[whole]["test_loss"]
    assert 1e-6 < far < 0.02 and abs(loss - exact) < 0.02 * exact, (half, far, loss, exact)
print("near f32: half, in_parts, in_turns")
assert states("half", "taken_steps") == {"dense.weight": 30} and states("half", "loss_scale") == {"dense.weight": 65536}
print("states of half:", ", ".join(states("half", "loss_scale")))
taken = states("in_turns", "taken_steps")
assert taken == {"dense.weight": 30, "dense_2.weight": 60}, taken
print("states of in_turns:", ", ".join(sorted(taken)) + "; 30 steps, and 60 of the turn")
large = trained["overflows"]
assert large["overflowed_steps"] == 30 - states("overflows", "taken_steps")["dense.weight"] and large["loss_scale"] < 65536
assert np.isfinite(weights("overflows")).all()
print(f"overflows: {large['overflowed_steps']} of 30 steps moved nothing")
