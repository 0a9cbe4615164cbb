# The examples are tests too, under the settings of test/.
import os

lit_config.load_config(config, os.path.join(os.path.dirname(__file__), "..", "test", "lit.cfg.py"))
config.name = "examples"
config.test_exec_root = os.path.join(config.test_exec_root, "examples")
# A repository whose specifications import models: test/lit/frameworks/research_repo.test.
config.excludes = [*config.excludes, "research_repo"]
