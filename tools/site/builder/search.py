"""The index that assets/search.js searches. It is a script and not JSON, because a page that is opened as a file may
load scripts only."""
import json
import math
import re

# What a word counts in a title, the less the more words this has; in the title of the page; for each doubling of the text's.
TITLE, LONG_TITLE, PAGE, TEXT = 12, 4, 2, 1
# They say little in a title: one that has no other word beside what is looked for is found as if it were that alone.
STOP = ["a", "an", "and", "are", "by", "for", "in", "is", "it", "of", "on", "option", "or", "tbemc", "that", "the", "thi", "to",
        "what", "with"]
LONGEST = 40  # letters of a word
WORD = re.compile(r"[a-z0-9_]+")
SNIPPET = 150


def words_of(text):
    """As `wordsOf` of assets/search.js: names whole and their parts, no plurals, no numbers but years and codes."""
    found = []
    for word in WORD.findall(text.lower()):
        found.append(word)
        if "_" in word:
            found += [part for part in word.split("_") if part]
    return [stem(word) for word in found if len(word) <= LONGEST and (not word.isdigit() or len(word) == 4)]


def stem(word):
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def index(sections):
    """`entries`: title, page, link, number of the section, beginning of the text. `words`: each word's entries, and what it
    counts there. What comes early in the site is for more readers, so the number of the section counts too."""
    entries, words = [], {}
    for number, section in enumerate(sections):
        for page in section.pages:
            for part in page.parts:
                _add(entries, words, number, page, part)
    flat = {word: [number for pair in sorted(places.items()) for number in pair] for word, places in sorted(words.items())}
    return {"entries": entries, "words": flat, "sections": [section.name for section in sections], "stop": STOP}


def _add(entries, words, section, page, part):
    weights = {}
    counts = {}
    for word in words_of(part.text):
        counts[word] = counts.get(word, 0) + 1
    for word, count in counts.items():
        weights[word] = TEXT * (1 + math.floor(math.log2(count)))
    for word in set(words_of(page.title)):
        weights[word] = weights.get(word, 0) + PAGE
    title = set(words_of(part.title))
    for word in title:
        weights[word] = weights.get(word, 0) + max(LONG_TITLE, round(2 * TITLE / (1 + len(title.difference(STOP) or title))))
    text = " ".join(part.text.split())
    if len(text) > SNIPPET:
        text = text[:SNIPPET].rsplit(" ", 1)[0] + " …"
    link = f"{page.path}#{part.anchor}" if part.anchor else page.path
    for word, weight in weights.items():
        words.setdefault(word, {})[len(entries)] = weight
    entries.append([part.title, page.title if part.title != page.title else "", link, section, text])


def script(sections):
    text = json.dumps(index(sections), ensure_ascii=False, separators=(",", ":"))
    return f"var tbemIndex = {text.replace('</', '<' + chr(92) + '/')};\n"
