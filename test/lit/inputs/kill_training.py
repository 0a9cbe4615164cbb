"""Trains PROGRAM with TBEMC once in one go, and once killed (SIGKILL) again and again in the middle of an epoch, or stopped by
Ctrl-C, and taken up each time: kill_training.py TBEMC PROGRAM FOLDER TRAINING STEPS_OF_AN_EPOCH. Fails unless the final weights are the same, bit for bit."""
import json
import os
import random
import signal
import subprocess
import sys

tbemc, program, folder, training, epoch = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))


def command(out):
    return [tbemc, "train", program, "--out", os.path.join(folder, out), "--json"]


def steps(out):
    """Steps of the checkpoint, or 0."""
    path = os.path.join(folder, out, training + ".safetensors")
    if not os.path.exists(path):
        return 0
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return json.loads(json.loads(file.read(length))["__metadata__"]["progress"])["step"]


def interrupted(out):
    """A training that is interrupted until it is over: how often it was killed, stopped, and left within an epoch."""
    kills = stops = middle = 0
    for attempt in range(60):
        run = subprocess.Popen(command(out), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        wanted = random.randrange(3)  # single steps that it may tell before it ends
        told = 0
        for line in run.stdout:
            if json.loads(line)["kind"] == "train_step":
                told += 1
            if told > wanted:
                break
        if attempt % 3 == 2:
            run.send_signal(signal.SIGINT)
            assert run.wait() in (0, 130), run.returncode
            stops += run.returncode == 130
        else:
            run.kill()
            kills += run.wait() == -signal.SIGKILL
        middle += steps(out) % int(epoch) != 0
        if steps(out) == steps("straight"):
            break
    subprocess.run(command(out), check=True, stdout=subprocess.DEVNULL)
    weights = [os.path.join(folder, each, training + ".safetensors") for each in ("straight", out)]
    subprocess.run([sys.executable, os.path.join(here, "same_weights.py"), *weights], check=True)
    return kills, stops, middle


subprocess.run(command("straight"), check=True, stdout=subprocess.DEVNULL)
random.seed(5)
# Where a signal comes to is the machine's: on a busy one all of a training's may come at an epoch's end.
seen = (0, 0, 0)
for training_round in range(6):
    seen = tuple(a + b for a, b in zip(seen, interrupted(f"broken{training_round}")))
    if seen[0] >= 2 and seen[1] >= 1 and seen[2] >= 1:
        break
assert seen[0] >= 2 and seen[1] >= 1 and seen[2] >= 1, seen
print("killed more than once, stopped, taken up: the same weights")
