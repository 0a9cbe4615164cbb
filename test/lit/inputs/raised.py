"""usage: raised.py FOLDER: writes examples (x.npy), the same with every number 0.25 higher (raised.npy) and classes (y.npy)."""
import os
import sys

import numpy as np

random = np.random.default_rng(7)
folder = sys.argv[1]
examples = random.normal(size=(60, 6)).astype(np.float32)
np.save(os.path.join(folder, "x.npy"), examples)
np.save(os.path.join(folder, "raised.npy"), examples + np.float32(0.25))
np.save(os.path.join(folder, "y.npy"), random.integers(0, 4, 60))
