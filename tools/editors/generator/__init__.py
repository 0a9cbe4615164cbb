"""What `tools/editors/generate` is made of: the words of the language, and one module per kind of file that is made."""
