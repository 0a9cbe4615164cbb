// What the site's own search finds, without a browser: duk SITE/assets/index.js SITE/assets/search.js search_test.js
// A query, and what has to be first; null: nothing is found.
var cases = [
  ["conv2d", "library/std.nn.html#conv2d"],
  ["E0302", "errors/E0302.html"],
  ["e0302 pre-condition", "errors/E0302.html"],
  ["tbemc fit", "cli.html#tbemc-fit"],
  ["resnet", "library/std.vision.html#resnet"],
  ["first five minutes", "tutorial/01_first_five_minutes.html"],
  ["Gates", "tutorial/07_gates.html"],
  ["orthogonal arrays", "measurements/designs.html#orthogonal-arrays"],
  ["covering array", "designs.html#covering-arrays"],
  ["h100 memory", "library/std.devices.html#h100"],
  ["activation checkpointing", "language.html#activation-checkpointing"],
  ["exit status", "cli.html#exit-status"],
  ["caching allocator", null, "allocator.html"],
  ["Legendre", null, "regression.html"],
  ["glob", null, "library/std.nn.html#global_avg_pool"],
  ["xyzzy", undefined],
  ["conv2d xyzzy", undefined],
  ["   ", undefined],
  ["hasOwnProperty", undefined],
  ["__proto__", undefined]
];
var wrong = 0;
for (var i = 0; i < cases.length; i++) {
  var found = tbemSearch(tbemIndex, cases[i][0], 12).map(function (one) { return tbemIndex.entries[one.entry][2]; });
  var right;
  if (cases[i].length === 3) right = found.some(function (link) { return link.indexOf(cases[i][2]) === 0; });
  else right = found[0] === cases[i][1];
  if (!right) { wrong++; print(cases[i][0] + ": " + found.slice(0, 4).join(", ")); }
}
// Every part of the site is found by its own title: among the first 12, or among as many as have the same title.
var lost = 0;
for (var entry = 0; entry < tbemIndex.entries.length; entry++) {
  var title = tbemIndex.entries[entry][0];
  var same = tbemIndex.entries.filter(function (other) { return other[0] === title; }).length;
  var there = tbemSearch(tbemIndex, title, 12 + same).some(function (one) { return one.entry === entry; });
  if (!there) { lost++; if (lost < 10) print("not found: " + title); }
}
print(cases.length + " queries, " + wrong + " wrong; " + tbemIndex.entries.length + " titles, " + lost + " not found");
