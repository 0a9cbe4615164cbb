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


subprocess.run(command("straight"), check=True, stdout=subprocess.DEVNULL)
random.seed(5)
kills = stops = middle = 0
for attempt in range(60):
    run = subprocess.Popen(command("broken"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
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
    middle += steps("broken") % int(epoch) != 0
    if steps("broken") == steps("straight"):
        break
subprocess.run(command("broken"), check=True, stdout=subprocess.DEVNULL)
subprocess.run([sys.executable, os.path.join(here, "same_weights.py"), *(os.path.join(folder, f, training + ".safetensors") for f in ("straight", "broken"))], check=True)
assert kills >= 2 and stops >= 1 and middle >= 1, (kills, stops, middle)
print(f"killed {'more than once' if kills > 1 else 'once'}, stopped, taken up: the same weights")
