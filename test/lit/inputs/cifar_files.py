"""usage: cifar_files.py FOLDER: writes the files of CIFAR-10's binary version, with 100 images of noise around a colour for each class."""
import os
import sys

import numpy as np

random = np.random.default_rng(3)
colours = random.integers(60, 200, size=(10, 3, 1, 1))
for name in [f"data_batch_{number}.bin" for number in range(1, 6)] + ["test_batch.bin"]:
    labels = random.integers(0, 10, 100)
    images = np.clip(colours[labels] + random.normal(scale=30, size=(100, 3, 32, 32)), 0, 255).astype(np.uint8)
    np.concatenate([labels[:, None].astype(np.uint8), images.reshape(100, -1)], axis=1).tofile(os.path.join(sys.argv[1], name))
