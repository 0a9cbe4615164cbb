#include "compiler/show/rows/WeightReport.h"

#include "compiler/support/Unicode.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>

namespace tbem::driver {

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

void printArrayFile(show::Out& out, const std::string& path, const data::ArrayFile& file) {
  printArrays(out, path, arraysOf(file));
  if (out.display.json) return;
  for (const auto& [key, text] : file.metadata) out.print("{}: {}\n", printableLine(key), printableLine(text));
}

}  // namespace tbem::driver
