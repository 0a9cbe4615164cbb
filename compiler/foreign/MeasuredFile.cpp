#include "compiler/foreign/MeasuredFile.h"

#include "compiler/diagnostics/Hints.h"
#include "compiler/foreign/Answer.h"
#include "runtime/files/Read.h"
#include "runtime/store/Store.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tbem::foreign {

namespace {

constexpr std::uint64_t kMostBytes = 64U << 20U;

/// Where, with what and how often: columns beside factors and metrics.
constexpr std::string_view kBackend = "backend", kDesign = "design", kRepeat = "repeat", kStatus = "status", kReason = "reason",
                           kMachine = "machine", kVersions = "versions";

bool isStore(const std::string& path) { return path.ends_with(".tbemdb"); }

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Of "memory_peak [MiB]": the name.
std::string nameIn(std::string_view head) { return std::string(trimmed(head.substr(0, head.find('[')))); }

/// The cells of a line; a cell in quotes may have commas, and two quotes for one. Nothing: a quote is not closed.
std::optional<std::vector<std::string>> cellsOf(std::string_view line) {
  std::vector<std::string> cells(1);
  bool isQuoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char letter = line[at];
    if (letter == '"' && isQuoted && at + 1 < line.size() && line[at + 1] == '"') {
      cells.back() += letter;
      ++at;
    } else if (letter == '"') {
      isQuoted = !isQuoted;
    } else if (letter == ',' && !isQuoted) {
      cells.emplace_back();
    } else {
      cells.back() += letter;
    }
  }
  if (isQuoted) return std::nullopt;
  for (std::string& cell : cells) cell = std::string(trimmed(cell));
  return cells;
}

/// A table of comma-separated values: names, then rows of as many cells. Empty lines and those that begin with `#` count as
/// lines.
struct Sheet {
  std::string path;
  std::size_t headLine = 0;
  std::vector<std::string> names;
  std::vector<std::pair<std::size_t, std::vector<std::string>>> rows;  ///< with their lines

  std::string at(std::size_t line, std::string_view text) const { return fmt::format("{}:{}: {}", path, line, text); }
  std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - names.begin()));
  }
};

tl::expected<Sheet, std::string> readSheet(const std::string& path) {
  const auto text = files::readText(path, kMostBytes);
  if (!text) return tl::unexpected(text.error().message);
  Sheet sheet;
  sheet.path = path;
  std::string_view rest = *text;
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    const std::string_view own = trimmed(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (own.empty() || own.starts_with('#')) continue;
    auto cells = cellsOf(own);
    if (!cells) return tl::unexpected(sheet.at(line, "a quote is not closed"));
    if (sheet.names.empty()) {
      sheet.headLine = line;
      sheet.names = std::move(*cells);
      continue;
    }
    if (cells->size() != sheet.names.size())
      return tl::unexpected(sheet.at(
          line, fmt::format("{} cells, and line {} names {} columns", cells->size(), sheet.headLine, sheet.names.size())));
    sheet.rows.emplace_back(line, std::move(*cells));
  }
  if (sheet.rows.empty()) return tl::unexpected(fmt::format("{}: no rows: a line of names, and one for each row", path));
  return sheet;
}

/// Makes rows of a sheet. Errors carry file and line.
class SheetReader {
public:
  SheetReader(const Sheet& sheet, const MeasuredColumns& asked) : sheet(sheet), asked(asked), factors(asked.factors) {}

  tl::expected<std::vector<MeasuredRow>, std::string> read(const std::string& design) {
    if (auto known = readNames(); !known) return tl::unexpected(known.error());
    std::vector<MeasuredRow> rows;
    for (const auto& [line, cells] : sheet.rows) {
      auto row = readRow(line, cells);
      if (!row) return tl::unexpected(sheet.at(line, row.error()));
      if (row->design.empty() || row->design == design) rows.push_back(std::move(*row));
    }
    return rows;
  }

private:
  enum class Role : std::uint8_t { Factor, Metric, Own, Other };
  struct Column {
    Role role = Role::Other;
    std::size_t factor = 0;
    std::string name, unit;
  };

  tl::expected<void, std::string> wrongName(std::string_view text) const {
    return tl::unexpected(sheet.at(sheet.headLine, text));
  }

  tl::expected<void, std::string> readNames() {
    std::set<std::string> seen;
    for (const std::string& head : sheet.names) {
      const std::size_t bracket = head.find('[');
      Column column;
      column.name = nameIn(head);
      if (!seen.insert(column.name).second) return wrongName(fmt::format("two columns are called `{}`", column.name));
      if (bracket != std::string::npos) {
        if (!head.ends_with(']')) return wrongName(fmt::format("the unit of `{}` is not closed: `memory_peak [MiB]`", head));
        column.unit = head.substr(bracket + 1, head.size() - bracket - 2);
      }
      if (auto sound = roleOf(column); !sound) return sound;
      columns.push_back(std::move(column));
    }
    for (const std::string& factor : factors) {
      if (!seen.contains(factor)) return wrongName(fmt::format("no column has the levels of the factor `{}`", factor));
    }
    for (const std::string_view wanted : {kMachine, kVersions}) {
      if (!seen.contains(std::string(wanted)))
        return wrongName(
            fmt::format("no column `{}`: say for each row where (`machine`) and with what (`versions`) it was measured", wanted));
    }
    return {};
  }

  tl::expected<void, std::string> roleOf(Column& column) const {
    const auto factor = std::ranges::find(factors, column.name);
    if (factor != factors.end()) {
      column.role = Role::Factor;
      column.factor = static_cast<std::size_t>(factor - factors.begin());
      return {};
    }
    if (isQuantity(column.name)) {
      column.role = Role::Metric;
      if (const auto one = readQuantity(column.name, column.unit.empty() ? "1" : "1 " + column.unit); !one)
        return wrongName(fmt::format("`{}` cannot be in `{}`: {}", column.name, column.unit, one.error()));
      return {};
    }
    if (std::ranges::count(asked.own, column.name) != 0) {
      column.role = Role::Own;
      if (column.unit.empty()) return {};
      return wrongName(fmt::format("`{0}` is no metric, so its numbers have no unit: write `{0}`", column.name));
    }
    static constexpr std::string_view kOthers[] = {kBackend, kDesign, kRepeat, kStatus, kReason, kMachine, kVersions, "row"};
    if (asked.passesOverOthers || std::ranges::count(kOthers, column.name) != 0) return {};
    std::vector<std::string> known(std::begin(kOthers), std::end(kOthers));
    known.insert(known.end(), factors.begin(), factors.end());
    for (const char* metric :
         {"memory_peak", "memory_baseline", "latency", "energy", "allocated_peak", "reserved_peak", "device_peak"})
      known.emplace_back(metric);
    return wrongName(fmt::format("`{}` is neither a factor nor a metric nor says where a row is from; the nearest are {}",
                                 column.name, nearestFew(column.name, known)));
  }

  tl::expected<MeasuredRow, std::string> readRow(std::size_t line, const std::vector<std::string>& cells) const {
    MeasuredRow row;
    row.line = line;
    row.levels.resize(factors.size());
    row.value.status = runtime::Status::Ok;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const Column& column = columns[c];
      if (column.role == Role::Factor) {
        row.levels[column.factor] = cells[c];
        continue;
      }
      if (cells[c].empty()) continue;
      auto taken = column.role == Role::Metric ? takeMetric(row, column, cells[c])
                   : column.role == Role::Own  ? takeOwn(row, column.name, cells[c])
                                               : takeOther(row, column.name, cells[c]);
      if (!taken) return tl::unexpected(taken.error());
    }
    for (const auto& [name, text] : {std::pair(kMachine, &row.value.machine), std::pair(kVersions, &row.value.versions)}) {
      if (text->empty()) return tl::unexpected(fmt::format("`{}` is empty", name));
    }
    if (row.backend.empty()) row.backend = "elsewhere";
    return row;
  }

  static tl::expected<void, std::string> takeMetric(MeasuredRow& row, const Column& column, const std::string& cell) {
    const auto number = readQuantity(column.name, column.unit.empty() ? cell : cell + " " + column.unit);
    return number ? put(row.value, column.name, *number) : tl::unexpected(number.error());
  }

  static tl::expected<void, std::string> takeOwn(MeasuredRow& row, const std::string& name, const std::string& cell) {
    double& value = row.own[name];
    const auto read = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (read.ec == std::errc() && read.ptr == cell.data() + cell.size() && std::isfinite(value)) return {};
    return tl::unexpected(fmt::format("`{}` is a number, found `{}`", name, cell));
  }

  static tl::expected<void, std::string> takeOther(MeasuredRow& row, const std::string& name, const std::string& cell) {
    if (name == kBackend) row.backend = cell;
    if (name == kDesign) row.design = cell;
    if (name == kReason) row.value.reason = cell;
    if (name == kMachine) row.value.machine = cell;
    if (name == kVersions) row.value.versions = cell;
    if (name == kStatus) {
      const auto status = runtime::statusOf(cell);
      if (!status) return tl::unexpected(fmt::format("`status` is ok, oom, failed, timeout or skipped, found `{}`", cell));
      row.value.status = *status;
    }
    if (name == kRepeat) {
      const auto read = std::from_chars(cell.data(), cell.data() + cell.size(), row.repeat);
      if (read.ec != std::errc() || read.ptr != cell.data() + cell.size() || row.repeat >= 1000)
        return tl::unexpected(fmt::format("`repeat` counts from 0 to 999, found `{}`", cell));
    }
    return {};
  }

  const Sheet& sheet;
  const MeasuredColumns& asked;
  const std::vector<std::string>& factors;
  std::vector<Column> columns;
};

/// A level as a program writes it.
std::string levelText(const nlohmann::json& level) {
  if (level.is_null()) return "";
  return level.is_string() ? level.get<std::string>() : level.dump();
}

/// What a store has under a design's name. Rows of a former version of the program are among them; the levels tell.
tl::expected<std::vector<MeasuredRow>, std::string> readStore(const std::string& path, const std::string& design,
                                                              const std::vector<std::string>& factors) {
  auto store = store::Store::open(path, store::Mode::ReadOnly);
  if (!store) return tl::unexpected(store.error().message);
  auto found = store->results(design);
  if (!found) return tl::unexpected(found.error().message);
  std::vector<MeasuredRow> rows;
  for (store::Stored& one : *found) {
    const nlohmann::json levels = nlohmann::json::parse(one.key.levels, nullptr, false);
    MeasuredRow row{0, design, {}, one.key.backend, one.key.repeat, std::move(one.value), {}};
    for (const std::string& factor : factors)
      row.levels.push_back(levels.is_object() && levels.contains(factor) ? levelText(levels[factor]) : "");
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

tl::expected<MeasuredFile, std::string> describeMeasured(const std::string& path) {
  MeasuredFile file;
  file.isStore = isStore(path);
  if (file.isStore) {
    auto store = store::Store::open(path, store::Mode::ReadOnly);
    if (!store) return tl::unexpected(store.error().message);
    auto names = store->designs();
    if (!names) return tl::unexpected(names.error().message);
    file.designs = std::move(*names);
    return file;
  }
  const auto sheet = readSheet(path);
  if (!sheet) return tl::unexpected(sheet.error());
  for (const std::string& head : sheet->names) file.columns.push_back(nameIn(head));
  std::set<std::string> names;
  if (const auto column = sheet->column(kDesign)) {
    for (const auto& [line, cells] : sheet->rows) names.insert(cells[*column]);
  }
  file.designs.assign(names.begin(), names.end());
  return file;
}

tl::expected<std::vector<MeasuredRow>, std::string> readMeasured(const std::string& path, const std::string& design,
                                                                 const MeasuredColumns& columns) {
  if (isStore(path)) return readStore(path, design, columns.factors);
  const auto sheet = readSheet(path);
  if (!sheet) return tl::unexpected(sheet.error());
  return SheetReader(*sheet, columns).read(design);
}

}  // namespace tbem::foreign
