#include "compiler/driver/MeasureNotes.h"

#include "compiler/driver/Page.h"

#include <algorithm>
#include <map>
#include <set>

namespace tbem::driver {

namespace {

/// "row 3", "rows 1, 3": as the table numbers them.
std::string rowsText(const std::set<std::size_t>& rows) {
  std::vector<std::size_t> numbers;
  for (const std::size_t row : rows) numbers.push_back(row + 1);
  return fmt::format("row{} {}", numbers.size() == 1 ? "" : "s", fmt::join(numbers, ", "));
}

void sayLosses(const std::vector<Observation>& rows) {
  std::map<std::string, std::set<std::size_t>> byText;
  for (const Observation& row : rows) {
    for (const store::Stored& repeat : row.repeats) {
      if (!repeat.value.lossNotFinite.empty()) byText[repeat.value.lossNotFinite].insert(row.row->row);
    }
  }
  for (const auto& [text, numbers] : byText)
    say("{}: after its last step the loss is not finite ({}); time and memory are as measured\n", rowsText(numbers), text);
}

}  // namespace

bool lossesAreFinite(const std::vector<store::Stored>& repeats) {
  return std::all_of(repeats.begin(), repeats.end(), [](const store::Stored& one) { return one.value.lossNotFinite.empty(); });
}

void sayMeasureNotes(const std::vector<Observation>& rows) { sayLosses(rows); }

}  // namespace tbem::driver
