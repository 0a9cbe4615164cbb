#include "runtime/report/Html.h"

#include "runtime/report/Xml.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::report {

namespace {

constexpr std::string_view kStyle =
#include "runtime/report/PageStyle.inc"
    ;

/// Shows the title of what is pointed at, or reached by the keyboard, in the line below its plot.
constexpr std::string_view kScript = R"js(
for (const figure of document.querySelectorAll('figure')) {
  const line = figure.querySelector('output');
  const show = event => {
    const title = event.target.querySelector && event.target.querySelector('title');
    if (line && title && event.target.tagName !== 'svg') line.textContent = title.textContent;
  };
  figure.addEventListener('pointerover', show);
  figure.addEventListener('focusin', show);
}
)js";

std::string_view toneClass(Tone tone) {
  switch (tone) {
    case Tone::Good:
      return "good";
    case Tone::Bad:
      return "bad";
    case Tone::Warn:
      return "warn";
    case Tone::Faint:
      return "faint";
    case Tone::Plain:
      break;
  }
  return {};
}

std::string attribute(const char* name, std::string_view value) {
  return value.empty() ? std::string() : fmt::format(" {}=\"{}\"", name, escapeXml(value));
}

std::string classes(Align align, Tone tone) {
  std::string all(align == Align::Left ? "" : "n");
  if (const std::string_view more = toneClass(tone); !more.empty()) all += fmt::format("{}{}", all.empty() ? "" : " ", more);
  return attribute("class", all);
}

std::string rowOf(const Table& table, const std::vector<Cell>& cells) {
  std::string text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Cell cell = c < cells.size() ? cells[c] : Cell();
    const char* tag = c == 0 ? "th" : "td";
    text += fmt::format("<{}{}{}>{}</{}>", tag, c == 0 ? " scope=\"row\"" : "", classes(table.columns[c].align, cell.tone),
                        escapeXml(cell.text), tag);
  }
  return text;
}

}  // namespace

void Page::section(std::string name) { sections.push_back({std::move(name), {}, {}}); }

Page::Section& Page::last() {
  if (sections.empty()) sections.emplace_back();
  return sections.back();
}

void Page::text(std::string_view more) { last().lines += more; }

void Page::closeLines(Section& section) {
  const std::size_t first = section.lines.find_first_not_of('\n'), end = section.lines.find_last_not_of('\n');
  if (first != std::string::npos) {
    section.body += "<div class=\"lines\">";
    for (std::size_t from = first; from <= end;) {
      const std::size_t to = std::min(section.lines.find('\n', from), end + 1);
      const std::string_view line(section.lines.data() + from, to - from);
      section.body += line.empty() ? "<br>" : fmt::format("<p>{}</p>", escapeXml(line));
      from = to + 1;
    }
    section.body += "</div>\n";
  }
  section.lines.clear();
}

void Page::listing(std::string_view text) {
  Section& section = last();
  closeLines(section);
  section.body += "<pre>";
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    section.body += escapeXml(text.substr(from, to - from)) + "\n";
    from = to + 1;
  }
  section.body += "</pre>\n";
}

void Page::table(const Table& table, const std::vector<std::string>& anchors) {
  Section& section = last();
  closeLines(section);
  std::string text = "<div class=\"scroll\"><table>\n";
  if (!table.title.empty()) text += fmt::format("<caption>{}</caption>\n", escapeXml(table.title));
  text += "<thead><tr>";
  for (const Column& column : table.columns) {
    text += column.title.empty()
                ? fmt::format("<td{}></td>", classes(column.align, Tone::Plain))
                : fmt::format("<th scope=\"col\"{}>{}</th>", classes(column.align, Tone::Plain), escapeXml(column.title));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const bool ruled = std::ranges::find(table.rules, r) != table.rules.end();
    text += fmt::format("<tr{}{}>{}</tr>\n", attribute("id", r < anchors.size() ? anchors[r] : std::string()),
                        ruled ? " class=\"rule\"" : "", rowOf(table, table.rows[r]));
  }
  section.body += text + "</tbody></table></div>\n";
}

void Page::plot(std::string_view svg) {
  Section& section = last();
  closeLines(section);
  section.body += fmt::format("<figure><div class=\"scroll\">{}</div><figcaption><output></output></figcaption></figure>\n", svg);
}

std::string Page::html() const {
  std::string contents, body;
  std::size_t number = 0;
  for (Section section : sections) {
    closeLines(section);
    if (section.body.empty()) continue;
    const std::string id = fmt::format("s{}", ++number);
    contents += fmt::format("<li><a href=\"#{}\">{}</a></li>", id, escapeXml(section.name));
    body += fmt::format("<section id=\"{0}\">\n<h2>{1}</h2>\n{2}</section>\n", id, escapeXml(section.name), section.body);
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
      "dark\">\n"
      "<title>{0}</title>\n<style>{2}</style>\n</head>\n<body>\n<header>\n<h1>{0}</h1>\n<p>{1}</p>\n"
      "<nav aria-label=\"Contents\"><ul>{3}</ul></nav>\n</header>\n<main>\n{4}</main>\n<script>{5}</script>\n</body>\n</html>\n",
      escapeXml(title), escapeXml(subtitle), kStyle, contents, body, kScript);
}

}  // namespace tbem::report
