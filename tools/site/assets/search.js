// The search, apart from the page: what is found for some words, best first. Plain functions of ECMAScript 5, so that
// the tests run them without a browser.

// As words_of in builder/search.py: no plurals, no numbers but those of four digits.
function wordsOf(text) {
  var found = text.toLowerCase().match(/[a-z0-9_]+/g) || [];
  return found.filter(function (word) { return !/^[0-9]+$/.test(word) || word.length === 4; }).map(stem);
}

function stem(word) {
  return word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

// The words of the index that begin so.
function wordsThatBegin(index, beginning) {
  if (!index.sorted) index.sorted = Object.keys(index.words).sort();
  var low = 0;
  var high = index.sorted.length;
  while (low < high) {
    var middle = (low + high) >> 1;
    if (index.sorted[middle] < beginning) low = middle + 1;
    else high = middle;
  }
  while (high < index.sorted.length && index.sorted[high].lastIndexOf(beginning, 0) === 0) high++;
  return index.sorted.slice(low, high);
}

// What a word counts in each entry: {entry: number}. A word counts in full, the beginning of one by the share of it
// that was typed; rare words more than frequent ones.
function scoresOf(index, word) {
  var scores = {};
  wordsThatBegin(index, word).forEach(function (name) {
    var places = index.words[name];
    var share = name === word ? 1 : 0.6 * word.length / name.length;
    var rare = Math.log(1 + 2 * index.entries.length / places.length);
    for (var i = 0; i < places.length; i += 2) {
      var score = share * rare * places[i + 1];
      if (!(scores[places[i]] >= score)) scores[places[i]] = score;
    }
  });
  return scores;
}

// Words without those that say little, or all where there are no others.
function telling(index, words) {
  var kept = words.filter(function (word) { return index.stop.indexOf(word) < 0; });
  return (kept.length > 0 ? kept : words).join(" ");
}

// Entries that have every word: [{entry: number, score: number}], best first; of equals the one that comes first in the site.
function tbemSearch(index, query, limit) {
  var words = wordsOf(query);
  if (words.length === 0) return [];
  var sums = scoresOf(index, words[0]);
  for (var i = 1; i < words.length; i++) {
    var scores = scoresOf(index, words[i]);
    var both = {};
    for (var entry in sums) {
      if (scores[entry] !== undefined) both[entry] = sums[entry] + scores[entry];
    }
    sums = both;
  }
  var whole = telling(index, words);
  var found = Object.keys(sums).map(function (entry) {
    var place = index.entries[entry];
    var bonus = telling(index, wordsOf(place[0])) === whole ? 1.5 : 1;
    return {entry: Number(entry), score: sums[entry] * bonus * (1 - 0.05 * place[3])};
  });
  found.sort(function (a, b) { return b.score - a.score || a.entry - b.entry; });
  return found.slice(0, limit);
}
