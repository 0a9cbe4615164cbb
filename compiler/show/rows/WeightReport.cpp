#include "compiler/show/rows/WeightReport.h"

#include "compiler/support/Bug.h"
#include "compiler/support/Unicode.h"
#include "runtime/core/Layout.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace tbem::driver {

namespace {

/// An array of the file, a place of the network, or both, as it is told.
struct Told {
  const char* verdict = "";  ///< the words of JSON, of the table and of docs/weights.md
  const data::ArrayView* array = nullptr;
  const ArrayPlace* place = nullptr;
  std::string hint;
};

const char* verdictOf(const ComparedArray& compared) {
  switch (compared.fit) {
    case ArrayFit::Taken:
      return data::findElementType(compared.array->dtype)->runtime == compared.place->dtype ? "same" : "converted";
    case ArrayFit::Unused:
      return "unused";
    case ArrayFit::Unknown:
      return "unknown";
    case ArrayFit::Twice:
      return "twice";
    case ArrayFit::Shape:
      return "misshapen";
    case ArrayFit::Unheld:
      return "unheld";
  }
  TBEM_BUG("an array that fits in no way");
}

/// What fits, then what does not, then what lacks.
std::vector<Told> toldOf(const ArrayComparison& comparison) {
  std::vector<Told> told;
  for (const ComparedArray& compared : comparison.arrays)
    told.push_back({verdictOf(compared), compared.array, compared.place, compared.hint});
  std::ranges::stable_partition(told, [](const Told& one) {
    return one.verdict == std::string_view("same") || one.verdict == std::string_view("converted");
  });
  for (const ArrayPlace* place : comparison.missing) told.push_back({"missing", nullptr, place, {}});
  return told;
}

/// "f32 [4, 3]".
std::string typeText(const std::string& dtype, const std::vector<std::int64_t>& shape) {
  return fmt::format("{} {}", dtype, data::shapeText(shape));
}

Json toldJson(const Told& one) {
  Json fields = {{"verdict", one.verdict}, {"array", nullptr}, {"file_shape", nullptr}, {"file_dtype", nullptr},
                 {"path", nullptr},        {"shape", nullptr}, {"dtype", nullptr},      {"hint", nullptr}};
  if (one.array != nullptr) {
    fields["array"] = one.array->name;
    fields["file_shape"] = one.array->shape;
    fields["file_dtype"] = dtypeOf(*one.array);
  }
  if (one.place != nullptr) {
    fields["path"] = one.place->path;
    fields["shape"] = one.place->shape;
    fields["dtype"] = runtime::dtypeName(one.place->dtype);
  }
  if (!one.hint.empty()) fields["hint"] = one.hint;
  return fields;
}

/// "4 same, 1 unknown, 2 missing".
std::string countsText(const std::vector<Told>& told) {
  std::vector<std::pair<std::string_view, std::size_t>> counts;
  for (const Told& one : told) {
    const auto known = std::ranges::find(counts, one.verdict, &std::pair<std::string_view, std::size_t>::first);
    if (known != counts.end()) {
      ++known->second;
    } else {
      counts.emplace_back(one.verdict, 1);
    }
  }
  std::string text;
  for (const auto& [verdict, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict);
  return text.empty() ? "no arrays" : text;
}

}  // namespace

void printArrays(show::Out& out, const std::string& title, const std::vector<ListedArray>& rows) {
  report::Table table;
  table.title = title;
  table.columns = {{"name", report::Align::Left}, {"shape", report::Align::Left}, {"type", report::Align::Left}, {"bytes"}};
  std::uint64_t bytes = 0;
  for (const ListedArray& row : rows) {
    bytes += row.bytes;
    if (out.display.json) {
      out.json("weight", {{"group", row.group.empty() ? Json() : Json(row.group)},
                          {"name", row.name},
                          {"shape", row.shape},
                          {"dtype", row.dtype},
                          {"bytes", row.bytes}});
      continue;
    }
    table.add({row.name, data::shapeText(row.shape), row.dtype, std::to_string(row.bytes)});
  }
  if (out.display.json) return;
  out.table(table);
  out.print("{} arrays, {}\n", rows.size(), report::bytes(bytes));
}

void printComparison(show::Out& out, const RowState& row, const std::string& path, const ArrayComparison& comparison) {
  const std::vector<Told> told = toldOf(comparison);
  const std::string& network = row.elaborated->graph().network;
  if (out.display.json) {
    Json arrays = Json::array();
    for (const Told& one : told) arrays.push_back(toldJson(one));
    out.json("against", {{"network", network},
                         {"design", row.run->spec.name},
                         {"row", row.row},
                         {"levels", row.run->levels(row.row)},
                         {"file", path},
                         {"fits", comparison.fits()},
                         {"prefix", comparison.prefix},
                         {"arrays", std::move(arrays)}});
    return;
  }
  report::Table table;
  table.title = fmt::format("{} ({}) against {}", network, row.run->levelsText(row.row), path);
  for (const char* column : {"array", "in the file", "path", "in the network", "verdict"})
    table.columns.push_back({column, report::Align::Left});
  for (const Told& one : told) {
    std::vector<std::string> cells(4);
    if (one.array != nullptr) {
      cells[0] = one.array->name;
      cells[1] = typeText(dtypeOf(*one.array), one.array->shape);
    }
    if (one.place != nullptr) {
      cells[2] = one.place->path;
      cells[3] = typeText(runtime::dtypeName(one.place->dtype), one.place->shape);
    }
    table.add({cells[0], cells[1], cells[2], cells[3], one.verdict});
  }
  out.table(table);
  for (const Told& one : told) {
    if (one.hint.empty()) continue;
    out.print("{}\n", one.place != nullptr ? one.hint : fmt::format("`{}`: did you mean `{}`?", one.array->name, one.hint));
  }
  if (!comparison.prefix.empty()) out.print("names are read without `{}`, which all of them have\n", comparison.prefix);
  out.print("{}: --load {} this file\n", countsText(told), comparison.fits() ? "takes" : "refuses");
}

void printArrayFile(show::Out& out, const std::string& path, const data::ArrayFile& file) {
  printArrays(out, path, arraysOf(file));
  if (out.display.json) return;
  for (const auto& [key, text] : file.metadata) out.print("{}: {}\n", printableLine(key), printableLine(text));
}

}  // namespace tbem::driver
