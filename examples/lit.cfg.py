# The examples are tests too, under the settings of test/.
import os

lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "test", "lit.cfg.py"))
