// Tables for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tbem::report {

enum class Align : std::uint8_t {
  Left,
  Right,
  Decimal  ///< numbers with their points, then units, under each other: "98.00 MiB" over "1.500 GiB"
};
enum class Tone : std::uint8_t { Plain, Good, Bad, Warn, Faint };

struct Column {
  std::string title;
  Align align = Align::Right;
  unsigned rank = 0;  ///< dropWide leaves out columns of the highest rank first, those of rank 0 never
};
struct Cell {
  std::string text;
  Tone tone = Tone::Plain;
  Cell(std::string text = {}, Tone tone = Tone::Plain) : text(std::move(text)), tone(tone) {}
  Cell(const char* text) : text(text) {}
};

struct TableStyle {
  std::size_t width = 100;  ///< columns of the terminal; 0: as wide as it takes
  bool color = false;       ///< ANSI colours
  bool ascii = false;       ///< no character beyond ASCII in the frame (cells are the caller's)
};

struct Table {
  std::string title;  ///< a line above, or ""
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< short rows are filled with empty cells
  std::vector<std::size_t> rules;       ///< a rule is drawn before these rows

  void add(std::vector<Cell> row) { rows.push_back(std::move(row)); }
};

/// The table as text with a line end after each line; no line ends in spaces. A table wider than the terminal is split in
/// blocks of columns, the first column repeated in each; nothing is cut off.
std::string render(const Table& table, const TableStyle& style);

/// Leaves columns out, those of the highest rank first and of one rank the last first, until the table fits `width` (0: any
/// width does) or only columns of rank 0 are left. The titles of what was left out, in the table's order.
std::vector<std::string> dropWide(Table& table, std::size_t width);
/// Whether the table fits `width` without being split; 0: any width does.
bool fits(const Table& table, std::size_t width);
/// Each row as a record: its cells with their titles, "batch 4, depth 11", wrapped at `style.width` and indented behind the
/// first line. Empty cells are left out.
std::string renderRecords(const Table& table, const TableStyle& style);

/// The width of the terminal behind a file descriptor, COLUMNS, or 100; and whether to use colour there:
/// `choice` is "always", "never" or "auto" (a terminal, and neither NO_COLOR is set nor TERM=dumb).
std::size_t terminalWidth(int fd);
bool useColor(const std::string& choice, int fd);

}  // namespace tbem::report
