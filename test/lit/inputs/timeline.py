"""Reads a plot of memory over a step: it is XML, every moment has its place, the highest one is marked with its bytes.

usage: timeline.py FILE.svg
"""
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
texts = [text.text for text in root.iter(f"{SVG}text")]
moments = [rect[0].text for rect in root.iter(f"{SVG}rect") if len(rect)]
print(f"{len(moments)} moments, {len(list(root.iter(f'{SVG}polygon')))} kinds")
print("\n".join(texts))
print("\n".join(moments))
