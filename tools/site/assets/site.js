// The search in the page. The index is loaded when the search is used for the first time, as a script: a page that is
// opened as a file may load nothing else. Without this script a page lacks the search and nothing more.
(function () {
  "use strict";
  var form = document.querySelector(".search");
  var field = document.getElementById("query");
  var list = document.getElementById("results");
  var said = document.getElementById("said");
  var top = document.body.dataset.top;
  var chosen = -1;
  var loading = false;

  function load() {
    if (loading) return;
    loading = true;
    var script = document.createElement("script");
    script.src = top + "assets/index.js";
    script.onload = show;
    script.onerror = function () { said.textContent = "The index assets/index.js cannot be read."; };
    document.head.appendChild(script);
  }

  function piece(tag, name, text) {
    var made = document.createElement(tag);
    made.className = name;
    made.textContent = text;
    return made;
  }

  function option(entry, number) {
    var item = document.createElement("li");
    item.id = "result-" + number;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    var section = tbemIndex.sections[entry[3]];
    var link = document.createElement("a");
    link.href = top + entry[2];
    link.tabIndex = -1;
    link.appendChild(piece("span", "title", entry[0]));
    link.appendChild(piece("span", "where", entry[1] ? section + " › " + entry[1] : section));
    link.appendChild(piece("span", "text", entry[4]));
    item.appendChild(link);
    return item;
  }

  function show() {
    var query = field.value.trim();
    list.textContent = "";
    choose(-1);
    if (query === "" || typeof tbemIndex === "undefined") return open(false);
    var found = tbemSearch(tbemIndex, query, 12);
    found.forEach(function (one, number) { list.appendChild(option(tbemIndex.entries[one.entry], number)); });
    said.textContent = found.length === 0 ? "Nothing has all of these words." : found.length + " found";
    open(found.length > 0);
  }

  function open(is) {
    list.hidden = !is;
    field.setAttribute("aria-expanded", String(is));
    if (field.value.trim() === "") said.textContent = "";
  }

  function choose(number) {
    var items = list.children;
    if (chosen >= 0 && items[chosen]) items[chosen].setAttribute("aria-selected", "false");
    chosen = items.length === 0 ? -1 : number < -1 ? items.length - 1 : number >= items.length ? -1 : number;
    if (chosen < 0) return field.removeAttribute("aria-activedescendant");
    items[chosen].setAttribute("aria-selected", "true");
    items[chosen].scrollIntoView({block: "nearest"});
    field.setAttribute("aria-activedescendant", items[chosen].id);
  }

  field.addEventListener("focus", load);
  field.addEventListener("input", show);
  field.addEventListener("keydown", function (event) {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Escape") { field.value = ""; show(); field.blur(); }
    else return;
    event.preventDefault();
  });
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    var item = list.children[Math.max(chosen, 0)];
    if (item && !list.hidden) location.href = item.firstChild.href;
  });
  document.addEventListener("keydown", function (event) {
    var typing = /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
  document.addEventListener("click", function (event) {
    if (!form.contains(event.target)) open(false);
  });
  form.hidden = false;
})();
