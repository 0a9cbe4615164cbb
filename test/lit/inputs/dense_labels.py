"""Trainings with a label for each word or pixel: what they report of the test, against NumPy with their last weights.

usage: dense_labels.py make FOLDER     writes the examples: words.npz, pixels.npz
       dense_labels.py check FOLDER    reads words.json, pixels.json and the checkpoints"""
import json
import sys

import numpy as np

from safetensors_file import read

LENGTH, VOCABULARY, CLASSES, HEIGHT, WIDTH = 7, 11, 5, 6, 4


def make(folder):
    random = np.random.default_rng(7)
    x = random.integers(0, VOCABULARY, (80, LENGTH))
    some = np.where(random.random(x.shape) < 0.4, 255, x % CLASSES)
    some[60] = 255
    np.savez(folder + "/words.npz", x=x[:60], y=x[:60] % CLASSES, x_test=x[60:], y_test=x[60:] % CLASSES, some=some[:60],
             some_test=some[60:],
             nothing=np.full((60, LENGTH), 255), nothing_test=some[60:])
    images = random.standard_normal((50, 3, HEIGHT, WIDTH)).astype(np.float32)
    labels = np.argmax(images, axis=1).astype(np.uint8)
    np.savez(folder + "/pixels.npz", x=images[:30], y=labels[:30], x_test=images[30:], y_test=labels[30:],
             narrow=labels[:30, :3], narrow_test=labels[30:, :3])


def score(logits, labels):
    """Mean cross entropy and accuracy over the labels that are not 255; classes last."""
    logits, labels = logits[labels != 255], labels[labels != 255]
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -np.take_along_axis(logs, labels[..., None].astype(int), -1).mean(), (logits.argmax(-1) == labels).mean()


def check(folder):
    def weight(training, path):
        kind, shape, data = read(f"{folder}/trained.out/{training}.safetensors")["weight/" + path]
        assert kind == "F32", kind
        return np.frombuffer(data, np.float32).reshape(shape)

    def compare(name, logits, labels):
        told = [json.loads(line) for line in open(f"{folder}/told.json", encoding="utf-8")]
        told = next(row for row in told if row["kind"] == "trained" and row["name"] == name)
        loss, accuracy = score(logits, labels)
        assert abs(told["test_loss"] - loss) < 1e-5 * loss, (told, loss)
        assert told["test_accuracy"] == accuracy and accuracy > 0.5, (told, accuracy)
        print(f"{name}: test loss and accuracy agree")

    # A loss of the program's own is a mean over the examples, whatever their labels.
    rows = [row for row in map(json.loads, open(f"{folder}/told.json", encoding="utf-8")) if row.get("name") == "some_squares"]
    steps = [row["loss"] for row in rows if row["kind"] == "train_step"]
    epoch = next(row["loss"] for row in rows if row["kind"] == "train")
    assert len(steps) == 4 and abs(np.mean(steps) - epoch) < 1e-12, rows

    words, pixels = np.load(folder + "/words.npz"), np.load(folder + "/pixels.npz")
    table, kernel = weight("tagger", "embedding.weight"), weight("segmenter", "conv2d.weight")
    compare("tagger", table[words["x_test"]], words["y_test"])
    compare("some_words", weight("some_words", "embedding.weight")[words["x_test"]], words["some_test"])
    compare("some_logs", weight("some_logs", "embedding.weight")[words["x_test"]], words["some_test"])
    compare("segmenter", np.einsum("nchw,kc->nhwk", pixels["x_test"], kernel[:, :, 0, 0]), pixels["y_test"])


{"make": make, "check": check}[sys.argv[1]](sys.argv[2])
