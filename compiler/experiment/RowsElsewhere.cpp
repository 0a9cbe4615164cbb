#include "compiler/experiment/RowsElsewhere.h"

#include "compiler/diagnostics/Hints.h"
#include "compiler/diagnostics/tables/Run.h"
#include "compiler/experiment/AtText.h"
#include "compiler/experiment/Quantities.h"
#include "compiler/experiment/RegressionModel.h"
#include "compiler/experiment/designs/FileDesign.h"
#include "compiler/support/Rational.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tl/expected.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace tbem::driver {

namespace {

/// The position of a level that a file writes so: the same text, the same number, or nothing where the factor does not exist.
std::optional<std::uint32_t> levelIn(const graph::FactorSpec& factor, const std::string& text) {
  const std::optional<Rational> number = parseSigned(text);
  for (std::uint32_t i = 0; i < factor.levels.size(); ++i) {
    const graph::Level& level = factor.levels[i];
    if (level.absent ? text.empty() : level.text == text || level.text == "\"" + text + "\"") return i;
    if (number && level.number && *level.number == *number) return i;
  }
  return std::nullopt;
}

/// Rows that were measured elsewhere, and the design that they are of.
class FileReader {
public:
  FileReader(Workspace& workspace, const Designs& designs, const ast::Regress& decl, Elsewhere& into)
      : workspace(workspace), designs(designs), decl(decl), into(into) {
    const bool isFile = !workspace.path.empty() && workspace.path != "-";
    const std::filesystem::path folder = isFile ? std::filesystem::path(workspace.path).parent_path() : std::filesystem::path();
    path = (folder / fileOf(decl)).string();
  }

  /// False after a report, or where the design of the rows has mistakes of its own.
  bool read() {
    const auto file = foreign::describeMeasured(path);
    if (!file) return wrong(file.error());
    const bool isDesign = !file->isStore && file->designs.empty() && workspace.all<ast::Design>().empty();
    if (!isDesign && !chooseDesign(file->designs)) return false;
    foreign::MeasuredColumns columns;
    columns.passesOverOthers = isDesign;
    if (isDesign) {
      if (decl.terms != nullptr) columns.factors = namesIn(*decl.terms);
    } else {
      for (const graph::FactorSpec& factor : into.run->spec.factors) columns.factors.push_back(factor.name);
    }
    into.columns = columns.own = ownColumns(*file, columns.factors);
    auto rows = foreign::readMeasured(path, isDesign ? "" : into.run->spec.name, columns);
    if (!rows) return wrong(rows.error());
    return isDesign ? makeDesign(columns.factors, std::move(*rows)) : place(std::move(*rows));
  }

private:
  bool wrong(const std::string& text) {
    workspace.session.sink.report(diag::bad_measured_file, decl.from.range, text);
    return false;
  }

  /// The file's columns that responses name, of this regression and of others of the file.
  std::vector<std::string> ownColumns(const foreign::MeasuredFile& file, const std::vector<std::string>& factors) const {
    std::vector<std::string> columns;
    for (const ast::Regress* other : workspace.all<ast::Regress>()) {
      if (fileOf(*other) != fileOf(decl) || other->response == nullptr) continue;
      for (std::string& name : namesIn(*other->response)) {
        const bool isOwn = std::ranges::count(file.columns, name) != 0 && std::ranges::count(quantityNames(), name) == 0 &&
                           std::ranges::count(factors, name) == 0 && std::ranges::count(columns, name) == 0;
        if (isOwn) columns.push_back(std::move(name));
      }
    }
    return columns;
  }

  bool makeDesign(const std::vector<std::string>& factors, std::vector<foreign::MeasuredRow> rows) {
    auto design = designOfFile(std::filesystem::path(path).stem().string(), decl.from.range, factors, rows);
    if (!design) return wrong(fmt::format("{}:{}", path, design.error()));
    into.own = std::move(design->run);
    into.run = into.own.get();
    for (std::size_t i = 0; i < rows.size(); ++i) into.rows.push_back({design->rows[i], std::move(rows[i])});
    return true;
  }

  bool chooseDesign(const std::vector<std::string>& named) {
    std::vector<std::string> own, fitting;
    for (const ast::Design* design : workspace.all<ast::Design>()) own.push_back(design->name.text);
    const bool says = std::ranges::any_of(named, [](const std::string& name) { return !name.empty(); });
    for (const std::string& name : own) {
      if (!says || std::ranges::count(named, name) != 0) fitting.push_back(name);
    }
    if (fitting.size() != 1) {
      return wrong(fitting.empty()
                       ? fmt::format("{}: its rows are of {}, and the program's designs are {}", path, firstFew(named),
                                     own.empty() ? "none" : firstFew(own))
                       : fmt::format("{}: its rows may be of {}: a column `design` says of which", path, firstFew(fitting)));
    }
    for (const auto& run : designs.runs) {
      if (run->spec.name == fitting.front()) into.run = run.get();
    }
    return into.run != nullptr;
  }

  /// Finds the row of the design that each row of the file is.
  bool place(std::vector<foreign::MeasuredRow> rows) {
    std::set<std::tuple<std::string, std::size_t, std::uint32_t>> seen;
    for (foreign::MeasuredRow& row : rows) {
      const auto at = [&](const std::string& text) {
        return row.line == 0 ? fmt::format("{}: {}", path, text) : fmt::format("{}:{}: {}", path, row.line, text);
      };
      const auto position = rowOf(row.levels);
      if (!position) {
        if (row.line == 0) continue;  // a store has rows of former versions of the program, too
        return wrong(at(position.error()));
      }
      if (row.line != 0 && !seen.insert({row.backend, *position, row.repeat}).second)
        return wrong(at(fmt::format("row {} of `{}` is there already on {}, repeat {}: a column `repeat` tells them apart",
                                    *position + 1, into.run->spec.name, row.backend, row.repeat)));
      into.rows.push_back({*position, std::move(row)});
    }
    return !into.rows.empty() || wrong(fmt::format("{}: none of its rows is one of `{}`", path, into.run->spec.name));
  }

  tl::expected<std::size_t, std::string> rowOf(const std::vector<std::string>& levels) const {
    const graph::DesignSpec& spec = into.run->spec;
    LevelIndices indices;
    for (std::size_t f = 0; f < spec.factors.size(); ++f) {
      const auto level = levelIn(spec.factors[f], levels[f]);
      if (!level) return tl::unexpected(fmt::format("`{}` has no level `{}`", spec.factors[f].name, levels[f]));
      indices.push_back(*level);
    }
    const auto& rows = into.run->rows;
    const auto found = std::ranges::find(rows, indices);
    if (found == rows.end())
      return tl::unexpected(fmt::format("no row of `{}` has these levels: {}", spec.name, fmt::join(levels, ", ")));
    return static_cast<std::size_t>(found - rows.begin());
  }

  Workspace& workspace;
  const Designs& designs;
  const ast::Regress& decl;
  Elsewhere& into;
  std::string path;
};

}  // namespace

std::string fileOf(const ast::Regress& decl) {
  const std::string& from = decl.from.text;
  return from.size() >= 2 && from.front() == '"' ? from.substr(1, from.size() - 2) : std::string();
}

std::optional<Elsewhere> readElsewhere(Workspace& workspace, const Designs& designs, const ast::Regress& decl) {
  Elsewhere elsewhere;
  if (!FileReader(workspace, designs, decl, elsewhere).read()) return std::nullopt;
  return elsewhere;
}

}  // namespace tbem::driver
