#include "compiler/diagnostics/Render.h"

#include "compiler/diagnostics/ModelLine.h"
#include "compiler/support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace tbem {

namespace {
constexpr int kTab = 4;

struct Mark {
  SrcRange range;
  std::string text;
  bool primary = false;
};

struct Style {
  bool on;
  std::string operator()(std::string_view code, std::string_view text) const {
    return on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
};

std::string_view colorOf(Severity severity) {
  return severity == Severity::Error ? "1;31" : severity == Severity::Warning ? "1;33" : "1;36";
}

/// A source line as it is shown, with the display column of each of its bytes.
struct Shown {
  std::string text;
  std::vector<int> column;  ///< one a byte, and one for the end
};

Shown show(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  Shown shown;
  int at = 0;
  for (std::size_t i = 0; i < line.size();) {
    const CodePoint point = decode(line, i);
    for (std::size_t b = 0; b < point.bytes; ++b) shown.column.push_back(at);
    if (point.value == '\t') {
      const int spaces = kTab - at % kTab;
      shown.text.append(static_cast<std::size_t>(spaces), ' ');
      at += spaces;
    } else if (!point.valid || isControl(point.value)) {
      const std::string escape = shownAt(line, i, point);
      shown.text += escape;
      at += static_cast<int>(escape.size());
    } else {
      shown.text += line.substr(i, point.bytes);
      at += columns(point.value);
    }
    i += point.bytes;
  }
  shown.column.push_back(at);
  return shown;
}

/// The part of `text` from display column `from`, at most `width` columns wide; an ellipsis in place of what is cut off.
std::string cut(const std::string& text, int from, int width, int total) {
  std::string out;
  int at = 0;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode(text, i);
    const int wide = columns(point.value);
    const bool edge = (from > 0 && at == from) || (from + width < total && at + wide == from + width);
    if (at >= from && at + wide <= from + width) out += edge && wide == 1 ? "…" : text.substr(i, point.bytes);
    at += wide;
    i += point.bytes;
  }
  return out;
}

class Renderer {
public:
  Renderer(const Diagnostic& diagnostic, const SourceManager& sources, const RenderOptions& options)
      : diagnostic(diagnostic), sources(sources), options(options), style{options.color} {}

  std::string run() {
    out +=
        style(colorOf(diagnostic.severity), fmt::format("{}[{}]", severityName(diagnostic.severity), info(diagnostic.kind).code));
    out += style("1", ": " + printableLine(diagnostic.message)) + "\n";
    collect();
    for (std::size_t i = 0; i < marks.size();) i = file(i);
    levels();
    for (const std::string& note : diagnostic.notes) footer("note", note);
    for (const ModelLine& origin : modelLinesOf(sources, diagnostic)) footer("note", "written from " + origin.text());
    help();
    out += '\n';
    return std::move(out);
  }

private:
  const Diagnostic& diagnostic;
  const SourceManager& sources;
  const RenderOptions& options;
  Style style;
  std::vector<Mark> marks;
  int gutter = 1;  ///< width of the line numbers
  std::string out;

  void collect() {
    if (diagnostic.range.valid()) marks.push_back({diagnostic.range, "", true});
    for (const Label& label : diagnostic.labels) {
      if (label.range.valid()) marks.push_back({label.range, printableLine(label.text), false});
    }
    for (const Mark& mark : marks) {
      gutter = std::max(gutter, static_cast<int>(std::to_string(sources.lineColumn(mark.range.begin).line).size()));
    }
    const Source* first = marks.empty() ? nullptr : sources.find(marks[0].range.begin);
    std::stable_sort(marks.begin(), marks.end(), [&](const Mark& a, const Mark& b) {
      const bool aHere = sources.find(a.range.begin) == first;
      const bool bHere = sources.find(b.range.begin) == first;
      return aHere != bHere ? aHere : a.range.begin < b.range.begin;
    });
  }

  std::string side(std::string_view number, std::string_view bar) const {
    return style("1;34", fmt::format("{:>{}} {}", number, gutter, bar));
  }

  /// Shows the marks from `i` on that lie in one source; returns the first that does not.
  std::size_t file(std::size_t i) {
    const Source* source = sources.find(marks[i].range.begin);
    std::size_t end = i;
    while (end < marks.size() && sources.find(marks[end].range.begin) == source) ++end;
    Loc place = marks[i].range.begin;
    for (std::size_t j = i; j < end; ++j) {
      if (marks[j].primary) place = marks[j].range.begin;
    }
    out += std::string(static_cast<std::size_t>(gutter), ' ') + style("1;34", i == 0 ? "--> " : "::: ") +
           printableLine(sources.describe(place)) + "\n";
    out += side("", "|") + "\n";
    std::uint32_t lastLine = 0;
    for (std::size_t j = i; j < end;) {
      const std::uint32_t line = sources.lineColumn(marks[j].range.begin).line;
      std::size_t stop = j;
      while (stop < end && sources.lineColumn(marks[stop].range.begin).line == line) ++stop;
      if (lastLine != 0 && line > lastLine + 1) out += style("1;34", "...") + "\n";
      sourceLine(line, j, stop);
      lastLine = line;
      j = stop;
    }
    return end;
  }

  void sourceLine(std::uint32_t number, std::size_t from, std::size_t to) {
    const std::string_view line = sources.line(marks[from].range.begin);
    const Shown shown = show(line);
    const Source* source = sources.find(marks[from].range.begin);
    const Loc begin = source->base + source->lineStarts[number - 1];
    const auto column = [&](Loc loc) { return shown.column[std::min<std::size_t>(loc - begin, line.size())]; };
    const int room = std::max(20, static_cast<int>(options.width) - gutter - 4);
    int shift = 0;
    if (shown.column.back() > room) {
      std::size_t centre = from;
      for (std::size_t i = from; i < to; ++i) {
        if (marks[i].primary) centre = i;
      }
      shift = std::clamp(column(marks[centre].range.begin) - room / 2, 0, shown.column.back() - room);
    }
    std::string visible = shown.text;
    while (visible.ends_with(' ')) visible.pop_back();
    out += side(std::to_string(number), "|") + " " +
           (shift == 0 && shown.column.back() <= room ? visible : cut(visible, shift, room, shown.column.back())) + "\n";
    for (std::size_t i = from; i < to; ++i) {
      const int first = std::clamp(column(marks[i].range.begin) - shift, 0, room);
      const int last =
          std::clamp(column(std::max(marks[i].range.begin, marks[i].range.end)) - shift, first + 1, std::max(room, first + 1));
      std::string underline(static_cast<std::size_t>(last - first), marks[i].primary ? '^' : '-');
      if (!marks[i].text.empty()) underline += " " + marks[i].text;
      out += side("", "|") + " " + std::string(static_cast<std::size_t>(first), ' ') +
             style(marks[i].primary ? colorOf(diagnostic.severity) : "1;34", underline) + "\n";
    }
  }

  void footer(std::string_view kind, std::string_view text) {
    out += std::string(static_cast<std::size_t>(gutter), ' ') + style("1;34", " = ") + style("1", fmt::format("{}: ", kind));
    for (const char c : printable(text)) {
      out += c;
      if (c == '\n') out.append(static_cast<std::size_t>(gutter) + 3 + kind.size() + 2, ' ');
    }
    out += '\n';
  }

  static std::string levelText(const std::vector<std::pair<std::string, std::string>>& levels) {
    std::string text;
    for (const auto& [factor, level] : levels) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", factor, level);
    return text;
  }

  void levels() {
    static constexpr std::size_t kMost = 6;
    if (diagnostic.levels.empty()) return;
    footer("note", "at " + levelText(diagnostic.levels));
    std::string others;
    for (std::size_t i = 0; i < std::min(diagnostic.also.size(), kMost); ++i)
      others += (i == 0 ? "also at " : "; ") + levelText(diagnostic.also[i]);
    if (diagnostic.also.size() > kMost) others += fmt::format("; and {} more", diagnostic.also.size() - kMost);
    if (!others.empty()) footer("note", others);
  }

  /// One fix is told in words; several are one change, shown as the line that comes of it.
  void help() {
    if (diagnostic.fixes.empty()) return;
    if (diagnostic.fixes.size() == 1) {
      const Fix& fix = diagnostic.fixes[0];
      const std::string_view old = sources.text(fix.range);
      if (old.empty())
        footer("help", fmt::format("insert `{}`", fix.replacement.substr(std::min(fix.replacement.find_first_not_of(" \n"),
                                                                                  fix.replacement.size()))));
      else if (fix.replacement.empty())
        footer("help", fmt::format("remove `{}`", old));
      else
        footer("help", fmt::format("write `{}` instead of `{}`", fix.replacement, old));
      return;
    }
    const Source* source = sources.find(diagnostic.fixes[0].range.begin);
    if (source == nullptr) return;
    Diagnostic certain = diagnostic;
    Loc last = 0;
    for (Fix& fix : certain.fixes) {
      fix.applicability = Applicability::Certain;
      last = std::max(last, fix.range.end);
    }
    const std::string mended = applyFixes(*source, {certain});
    Loc first = certain.fixes[0].range.begin;
    for (const Fix& fix : certain.fixes) first = std::min(first, fix.range.begin);
    const std::uint32_t begin = source->lineStarts[sources.lineColumn(first).line - 1];
    const std::size_t after =
        source->text.size() - std::min<std::size_t>(source->text.size(), source->text.find('\n', last - source->base));
    std::string_view part = std::string_view(mended).substr(begin, mended.size() - after - begin);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    footer("help", fmt::format("write `{}`", part));
  }
};
}  // namespace

std::string renderText(const Diagnostic& diagnostic, const SourceManager& sources, const RenderOptions& options) {
  return Renderer(diagnostic, sources, options).run();
}

std::string renderAll(const DiagnosticSink& sink, const SourceManager& sources, const RenderOptions& options) {
  std::string out;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const Diagnostic& each : sink.all()) {
    out += renderText(each, sources, options);
    if (each.severity == Severity::Error) ++errors;
    if (each.severity == Severity::Warning) ++warnings;
  }
  const auto count = [](std::size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  if (errors != 0) out += count(errors, "error");
  if (warnings != 0) out += (errors != 0 ? ", " : "") + count(warnings, "warning");
  if (errors + warnings != 0) out += "\n";
  return out;
}

std::string applyFixes(const Source& source, const std::deque<Diagnostic>& diagnostics, std::size_t* applied) {
  std::vector<const Fix*> chosen;
  const auto inside = [&](const Fix& fix) {
    return fix.range.begin >= source.base && fix.range.end <= source.base + source.text.size();
  };
  const auto clashes = [&](const Fix& fix) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const Fix* other) {
      const bool same = fix.range == other->range;
      return same || (fix.range.begin < other->range.end && other->range.begin < fix.range.end);
    });
  };
  std::size_t count = 0;
  for (const Diagnostic& each : diagnostics) {
    const bool all = !each.fixes.empty() && std::all_of(each.fixes.begin(), each.fixes.end(), [&](const Fix& fix) {
      return fix.applicability == Applicability::Certain && inside(fix) && !clashes(fix);
    });
    if (!all) continue;
    ++count;
    for (const Fix& fix : each.fixes) chosen.push_back(&fix);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const Fix* a, const Fix* b) { return a->range.begin > b->range.begin; });
  std::string text = source.text;
  for (const Fix* fix : chosen) text.replace(fix->range.begin - source.base, fix->range.end - fix->range.begin, fix->replacement);
  if (applied != nullptr) *applied = count;
  return text;
}

std::string_view severityName(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

std::string renderBrief(const Diagnostic& diagnostic) {
  return fmt::format("{}: {}", info(diagnostic.kind).code, diagnostic.message);
}

}  // namespace tbem
