#include "compiler/experiment/designs/DesignFile.h"

#include "compiler/design/model/ArrayText.h"
#include "compiler/design/verify/Bounds.h"
#include "compiler/design/verify/Verify.h"
#include "compiler/diagnostics/tables/Design.h"
#include "compiler/support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

namespace tbem::driver {

namespace {

std::filesystem::path pathOf(const Workspace& workspace, const graph::DesignSpec& spec) {
  const Source* program = workspace.session.sources.find(spec.decl->array->range.begin);
  const std::filesystem::path folder = program != nullptr ? std::filesystem::path(program->name).parent_path() : "";
  return folder / spec.array;
}

/// The file among the session's sources, so that diagnostics can show its lines; nullptr after saying why not.
const Source* open(Workspace& workspace, const graph::DesignSpec& spec) {
  const auto refuse = [&](const std::string& cause, const char* wayOut) {
    workspace.session.sink.report(diag::array_file_fault, spec.decl->array->range, spec.array, cause).note(wayOut);
    return nullptr;
  };
  constexpr const char* kRelative = "its path is relative to the folder of the program";
  const std::filesystem::path path = pathOf(workspace, spec);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return refuse(error ? "it cannot be read: " + error.message() : "there is no file of that name", kRelative);
  const auto added = workspace.session.sources.addFile(path.string());
  if (!added) return refuse(added.error(), kRelative);
  const Source* const source = *added;
  if (const std::size_t at = firstNotUtf8(source->text); at != std::string::npos)
    return refuse(fmt::format("its byte {} is not UTF-8", at + 1), "save it as UTF-8");
  return source;
}

/// "`batch` = 4 beside `depth` = 11 stands in 3 rows, not in 2".
std::string imbalanceText(const graph::DesignSpec& spec, const design::Imbalance& found) {
  if (found.combination.empty()) return "there are far more combinations of levels than rows";
  return fmt::format("{} stands in {} row{}, not in {}", combinationText(spec, found), found.count, found.count == 1 ? "" : "s",
                     found.expected.str());
}

void reportUnbalanced(Workspace& workspace, const graph::DesignSpec& spec, const design::Array& array,
                      const design::Imbalance& found) {
  const std::uint32_t counted = found.columns.size() > 1 ? static_cast<std::uint32_t>(found.columns.size()) - 1 : 0;
  Diagnostic& told = workspace.session.sink.report(diag::array_file_unbalanced, spec.decl->array->range, spec.array,
                                                   array.strength, imbalanceText(spec, found));
  if (counted > 0) {
    told.note(fmt::format("it has strength {}: with `strength {}` it is taken", counted, counted));
  } else {
    told.note("in an orthogonal array the levels of a factor stand equally often");
  }
}

}  // namespace

std::string combinationText(const graph::DesignSpec& spec, const design::Imbalance& found) {
  std::string text;
  for (std::size_t i = 0; i < found.combination.size(); ++i) {
    const graph::FactorSpec& factor = spec.factors[found.columns[i]];
    text += fmt::format("{}`{}` = {}", text.empty() ? "" : " beside ", factor.name, factor.levels[found.combination[i]].text);
  }
  return text;
}

bool isArrayFile(const graph::DesignSpec& spec) { return spec.array.ends_with(".csv"); }

bool takeArrayFile(Workspace& workspace, DesignRun& run) {
  const graph::DesignSpec& spec = run.spec;
  const Source* source = open(workspace, spec);
  if (source == nullptr) return false;
  const std::vector<design::Factor> factors = run.factors();
  design::ArrayTextChoice choice = design::readArray(source->text, factors);
  if (const auto* fault = std::get_if<design::ArrayTextFault>(&choice)) {
    const SrcRange place{source->base + static_cast<Loc>(fault->begin), source->base + static_cast<Loc>(fault->end)};
    workspace.session.sink.report(diag::array_file_fault, place, spec.array, fault->cause)
        .label(spec.decl->array->range, "read here")
        .note(fault->wayOut);
    return false;
  }
  design::Array& array = std::get<design::Array>(choice);
  std::vector<std::uint32_t> varying;
  std::copy_if(array.levels.begin(), array.levels.end(), std::back_inserter(varying), [](std::uint32_t s) { return s > 1; });
  array.strength = std::min(static_cast<std::uint32_t>(spec.strength), static_cast<std::uint32_t>(varying.size()));
  if (spec.rows && static_cast<std::uint64_t>(*spec.rows) != array.runs) {
    workspace.session.sink
        .report(diag::array_file_fault, spec.decl->array->range, spec.array,
                fmt::format("it has {} rows, not {}", array.runs, *spec.rows))
        .note("leave out `rows`");
    return false;
  }
  if (design::countingCost(array, array.strength) > design::kMostCounted) {
    workspace.session.sink
        .report(diag::array_file_fault, spec.decl->array->range, spec.array,
                fmt::format("counting strength {} would take too long", array.strength))
        .note("claim a lower `strength`");
    return false;
  }
  if (const auto wrong = design::findImbalance(array, array.strength)) {
    reportUnbalanced(workspace, spec, array, *wrong);
    return false;
  }
  const design::Bounds bound = design::sharpBounds(varying, static_cast<std::uint32_t>(spec.strength));
  array.smallestPossible = bound.smallest;
  array.smallestBy = bound.by;
  array.name = spec.array;
  array.construction = "read from a file, its strength counted";
  run.array = std::move(array);
  return true;
}

}  // namespace tbem::driver
