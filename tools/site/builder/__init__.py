"""What tools/site/generate is made of."""
