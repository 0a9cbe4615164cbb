#include "runtime/report/Table.h"

#include "runtime/report/Numbers.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace tbem::report {
namespace {

constexpr std::size_t kGap = 2;  ///< columns between columns

std::string_view ansi(Tone tone) {
  switch (tone) {
    case Tone::Plain:
      return "";
    case Tone::Good:
      return "\x1b[32m";
    case Tone::Bad:
      return "\x1b[31m";
    case Tone::Warn:
      return "\x1b[33m";
    case Tone::Faint:
      return "\x1b[2m";
  }
  return "";
}

std::string spaces(std::size_t count) { return std::string(count, ' '); }

/// A number before its point, behind it, and its unit: "98.00 MiB" is {"98", ".00", " MiB"}.
struct Parts {
  bool isNumber = false;
  std::string_view front, behind, unit;
};
Parts split(std::string_view text) {
  const bool signedNumber = !text.empty() && (text[0] == '-' || text[0] == '+');
  const std::string_view digits = text.substr(signedNumber ? 1 : 0);
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return {};
  // Digits may be grouped with narrow spaces (three bytes); a unit follows a plain space.
  const std::size_t unit = std::min(text.find(' '), text.size());
  const std::size_t point = std::min(text.substr(0, unit).find('.'), unit);
  return {true, text.substr(0, point), text.substr(point, unit - point), text.substr(unit)};
}

struct Layout {
  std::size_t width = 0;                        ///< of the column
  std::size_t front = 0, behind = 0, unit = 0;  ///< of its parts, for Align::Decimal
};

const std::string& textAt(const std::vector<Cell>& row, std::size_t column) {
  static const std::string none;
  return column < row.size() ? row[column].text : none;
}

Layout layoutOf(const Table& table, std::size_t column) {
  Layout layout;
  const bool decimal = table.columns[column].align == Align::Decimal;
  for (const auto& row : table.rows) {
    const std::string& text = textAt(row, column);
    const Parts parts = split(text);
    if (decimal && parts.isNumber) {
      layout.front = std::max(layout.front, displayWidth(parts.front));
      layout.behind = std::max(layout.behind, displayWidth(parts.behind));
      layout.unit = std::max(layout.unit, displayWidth(parts.unit));
    } else {
      layout.width = std::max(layout.width, displayWidth(text));
    }
  }
  layout.width = std::max({layout.width, displayWidth(table.columns[column].title), layout.front + layout.behind + layout.unit});
  return layout;
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string fill = spaces(width - std::min(width, displayWidth(text)));
  return align == Align::Left ? text + fill : fill + text;
}

std::string cellText(const std::string& text, Align align, const Layout& layout) {
  if (align != Align::Decimal) return padded(text, layout.width, align);
  const Parts parts = split(text);
  if (!parts.isNumber) return padded(text, layout.width, Align::Right);
  std::string aligned = spaces(layout.front - std::min(layout.front, displayWidth(parts.front)));
  aligned += std::string(parts.front) + std::string(parts.behind) + spaces(layout.behind - displayWidth(parts.behind));
  aligned += std::string(parts.unit) + spaces(layout.unit - displayWidth(parts.unit));
  return padded(aligned, layout.width, Align::Right);
}

std::string painted(const std::string& text, Tone tone, bool color) {
  if (!color || tone == Tone::Plain) return text;
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return text;
  const std::size_t last = text.find_last_not_of(' ') + 1;
  return text.substr(0, first) + std::string(ansi(tone)) + text.substr(first, last - first) + "\x1b[0m" + text.substr(last);
}

void endLine(std::string& out, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
}

std::string rule(std::size_t width, bool ascii) {
  std::string line;
  for (std::size_t i = 0; i < width; ++i) line += ascii ? "-" : "─";
  return line;
}

/// The columns in blocks that fit; the first column leads every block.
std::vector<std::vector<std::size_t>> blocksOf(const std::vector<Layout>& layouts, std::size_t width) {
  std::vector<std::vector<std::size_t>> blocks(1);
  std::size_t used = 0;
  for (std::size_t column = 0; column < layouts.size(); ++column) {
    const std::size_t need = layouts[column].width + (blocks.back().empty() ? 0 : kGap);
    if (width != 0 && used + need > width && blocks.back().size() > 1) {
      blocks.push_back({0});
      used = layouts[0].width;
    }
    blocks.back().push_back(column);
    used += layouts[column].width + (blocks.back().size() > 1 ? kGap : 0);
  }
  return blocks;
}

void renderBlock(std::string& out, const Table& table, const std::vector<Layout>& layouts, const std::vector<std::size_t>& block,
                 const TableStyle& style) {
  std::string head;
  std::size_t total = 0;
  for (const std::size_t column : block) {
    if (column != block.front()) {
      head += spaces(kGap);
      total += kGap;
    }
    const Align align = table.columns[column].align;
    head += padded(table.columns[column].title, layouts[column].width, align == Align::Left ? Align::Left : Align::Right);
    total += layouts[column].width;
  }
  endLine(out, head);
  endLine(out, rule(total, style.ascii));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (std::find(table.rules.begin(), table.rules.end(), i) != table.rules.end()) endLine(out, rule(total, style.ascii));
    std::string line;
    for (const std::size_t column : block) {
      if (column != block.front()) line += spaces(kGap);
      const Tone tone = column < table.rows[i].size() ? table.rows[i][column].tone : Tone::Plain;
      line += painted(cellText(textAt(table.rows[i], column), table.columns[column].align, layouts[column]), tone, style.color);
    }
    endLine(out, line);
  }
}

/// One record on its way: a cell that fits a line stands on one line, a longer one breaks between words.
class RecordWriter {
public:
  RecordWriter(std::string& out, const TableStyle& style) : out(out), style(style) {}

  void add(const std::string& title, const Cell& cell) {
    if (!line.empty()) {
      line += ",";
      ++used;
    }
    const std::string text = title + " " + cell.text;
    if (style.width == 0 || displayWidth(text) + kIndent + 1 <= style.width) return put(text, cell.tone);
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      if (end != begin) put(text.substr(begin, end - begin), cell.tone);
      begin = end + 1;
    }
  }
  void end() { endLine(out, line); }

private:
  static constexpr std::size_t kIndent = 4;  ///< of all lines but the first

  /// `piece` with a space before it, on the next line where it does not fit with the comma that may follow.
  void put(const std::string& piece, Tone tone) {
    const std::size_t width = displayWidth(piece);
    const bool first = line.empty();
    if (!first && style.width != 0 && used + 1 + width + 1 > style.width) {
      endLine(out, line);
      line = spaces(kIndent);
      used = kIndent;
    } else if (!first) {
      line += " ";
      ++used;
    }
    line += painted(piece, tone, style.color);
    used += width;
  }

  std::string& out;
  const TableStyle& style;
  std::string line;
  std::size_t used = 0;  ///< columns of `line` that are seen: colours take none
};

}  // namespace

std::string render(const Table& table, const TableStyle& style) {
  std::string out;
  if (!table.title.empty()) endLine(out, table.title);
  if (table.columns.empty()) return out;
  std::vector<Layout> layouts;
  for (std::size_t column = 0; column < table.columns.size(); ++column) layouts.push_back(layoutOf(table, column));
  const auto blocks = blocksOf(layouts, style.width);
  for (const auto& block : blocks) {
    if (block != blocks.front()) out += "\n";
    renderBlock(out, table, layouts, block, style);
  }
  return out;
}

bool fits(const Table& table, std::size_t width) {
  if (width == 0) return true;
  std::size_t total = 0;
  for (std::size_t column = 0; column < table.columns.size(); ++column)
    total += layoutOf(table, column).width + (column == 0 ? 0 : kGap);
  return total <= width;
}

std::vector<std::string> dropWide(Table& table, std::size_t width) {
  std::vector<std::pair<std::size_t, std::string>> dropped;  // by the place in the whole table
  std::vector<std::size_t> places;
  for (std::size_t column = 0; column < table.columns.size(); ++column) places.push_back(column);
  while (!fits(table, width)) {
    std::size_t last = 0;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      if (table.columns[column].rank >= table.columns[last].rank) last = column;
    }
    if (table.columns.empty() || table.columns[last].rank == 0) break;
    const auto offset = static_cast<std::ptrdiff_t>(last);
    dropped.emplace_back(places[last], table.columns[last].title);
    table.columns.erase(table.columns.begin() + offset);
    places.erase(places.begin() + offset);
    for (std::vector<Cell>& row : table.rows) {
      if (last < row.size()) row.erase(row.begin() + offset);
    }
  }
  std::sort(dropped.begin(), dropped.end());
  std::vector<std::string> titles;
  for (auto& [place, title] : dropped) titles.push_back(std::move(title));
  return titles;
}

std::string renderRecords(const Table& table, const TableStyle& style) {
  std::string out;
  if (!table.title.empty()) endLine(out, table.title);
  for (const std::vector<Cell>& row : table.rows) {
    RecordWriter writer(out, style);
    for (std::size_t column = 0; column < std::min(row.size(), table.columns.size()); ++column) {
      if (!row[column].text.empty()) writer.add(table.columns[column].title, row[column]);
    }
    writer.end();
  }
  return out;
}

std::size_t terminalWidth(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (const char* columns = std::getenv("COLUMNS")) {
    const long value = std::strtol(columns, nullptr, 10);
    if (value > 0 && value < 10000) return static_cast<std::size_t>(value);
  }
  return 100;
}

bool useColor(const std::string& choice, int fd) {
  if (choice == "always") return true;
  if (choice == "never") return false;
  const char* noColor = std::getenv("NO_COLOR");  // no-color.org: present and not empty
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return isatty(fd) == 1 && (noColor == nullptr || *noColor == '\0') && !dumb;
}

}  // namespace tbem::report
