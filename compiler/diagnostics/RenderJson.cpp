#include "compiler/diagnostics/ModelLine.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/support/Json.h"

#include <algorithm>

namespace tbem {

namespace {
void place(JsonWriter& w, SrcRange range, const SourceManager& sources) {
  const Source* source = sources.find(range.begin);
  if (source == nullptr) {
    w.key("file").null().key("line").null().key("column").null().key("end_line").null().key("end_column").null();
    return;
  }
  const LineColumn begin = sources.lineColumn(range.begin);
  const LineColumn end = sources.lineColumn(std::max(range.begin, range.end));
  w.field("file", source->name)
      .field("line", begin.line)
      .field("column", begin.column)
      .field("end_line", end.line)
      .field("end_column", end.column);
}

bool isNumber(const std::string& text) {
  if (text.empty() || text == "-") return false;
  std::size_t points = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && i > 0 && i + 1 < text.size())
      ++points;
    else if ((c < '0' || c > '9') && !(c == '-' && i == 0))
      return false;
  }
  const std::size_t digit = text[0] == '-' ? 1 : 0;
  const bool leadingZero = text.size() > digit + 1 && text[digit] == '0' && text[digit + 1] != '.';
  return points <= 1 && !leadingZero && text[digit] != '.';
}

void scalar(JsonWriter& w, const std::string& text) {
  if (isNumber(text) || text == "true" || text == "false")
    w.raw(text);
  else
    w.value(text);
}

/// A factor with several levels becomes a list.
void levels(JsonWriter& w, const std::vector<std::pair<std::string, std::string>>& list) {
  w.begin();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string& factor = list[i].first;
    const auto same = [&](const auto& other) { return other.first == factor; };
    if (std::any_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), same)) continue;
    const bool several = std::count_if(list.begin(), list.end(), same) > 1;
    w.key(factor);
    if (several) w.beginList();
    for (const auto& [other, value] : list) {
      if (other == factor) scalar(w, value);
    }
    if (several) w.endList();
  }
  w.end();
}

std::string_view word(Applicability how) {
  return how == Applicability::Certain ? "certain" : how == Applicability::Maybe ? "maybe" : "placeholder";
}
}  // namespace

std::string renderJson(const Diagnostic& d, const SourceManager& sources) {
  JsonWriter w;
  w.begin().field("kind", "check").field("schema", 1).field("code", info(d.kind).code);
  w.field("severity", severityName(d.severity)).field("message", d.message);
  place(w, d.range, sources);
  w.key("levels");
  levels(w, d.levels);
  if (!d.also.empty()) {
    w.key("also").beginList();
    for (const auto& other : d.also) levels(w, other);
    w.endList();
  }
  w.key("labels").beginList();
  for (const Label& label : d.labels) {
    w.begin();
    place(w, label.range, sources);
    if (const ModelLine origin = modelLineOf(sources, label.range.begin); origin.known()) w.field("origin", origin.text());
    w.field("text", label.text).end();
  }
  w.endList().key("notes").beginList();
  for (const std::string& note : d.notes) w.value(note);
  w.endList();
  if (const std::vector<ModelLine> origins = modelLinesOf(sources, d); !origins.empty()) {
    w.key("origins").beginList();
    for (const ModelLine& origin : origins) w.value(origin.text());
    w.endList();
  }
  w.key("fix");
  if (d.fixes.empty()) {
    w.null();
  } else {
    const auto least = std::max_element(d.fixes.begin(), d.fixes.end(),
                                        [](const Fix& a, const Fix& b) { return a.applicability < b.applicability; });
    w.begin().field("applicability", word(least->applicability)).key("edits").beginList();
    for (const Fix& fix : d.fixes) {
      w.begin();
      place(w, fix.range, sources);
      w.field("replacement", fix.replacement).end();
    }
    w.endList().end();
  }
  return w.end().str();
}

}  // namespace tbem
