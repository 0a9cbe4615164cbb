"""Rules on the tree's text, run by tools/check_includes. Each is a function from a tree to a list of what breaks it."""
