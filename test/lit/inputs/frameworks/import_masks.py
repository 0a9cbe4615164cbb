#!/usr/bin/env python3
"""Models whose attention has a mask that is computed (Masks of models.py): import_masks.py TBEMC FOLDER. In the program the causal ones
are `causal: true` and the one that hides nothing is gone, whatever their size and however the model writes them; all others stay. A step
of each is PyTorch's (import_step.py)."""
import pathlib
import sys

import import_step

CAUSAL = ["compared", "expanded", "added", "filled", "chosen", "multiplied", "written over", "buffer", "moved", "transposed", "wide window"]
OTHERS = ["narrow window", "later", "own diagonal", "faint"]
SMALL, LARGE = 6, 128  # a table of numbers, and one of more numbers than a program has
SMALL_TOO = ["compared", "added", "wide window", "narrow window", "open"]


def word_of(text):
    """How the program's attention says what it sees."""
    if "scaled_dot_product_attention(" not in text:
        return "mask" if "masked_attention(" in text else "nothing"
    return "causal" if "causal: true" in text else "open"


def main():
    tbemc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    wrong, tried = 0, 0
    wanted = {way: "causal" for way in CAUSAL} | {way: "mask" for way in OTHERS} | {"open": "open"}
    for way, word in wanted.items():
        for length in [LARGE, SMALL] if way in SMALL_TOO else [LARGE]:
            tried += 1
            own = folder / f"{way.replace(' ', '_')}_{length}"
            own.mkdir(parents=True)
            import_step.compare(tbemc, own, f"models:Masks|'{way}', {length}|tokens=2,{length}:i64", False)
            text = "".join(file.read_text(encoding="utf-8") for file in own.glob("*.tbem"))
            if word_of(text) != word:
                wrong += 1
                print(f"{way}, {length}: {word_of(text)} in the program, expected {word}\n{text}")
    print(f"{tried - wrong} of {tried} masks are as they should be, and the same steps")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
