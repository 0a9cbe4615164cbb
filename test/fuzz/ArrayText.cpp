// Arrays as CSV, over factors with labels that need quotes. What is read can be written, and reads back as the same rows.
#include "compiler/design/model/ArrayText.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem::design;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<Factor> factors{{"batch", {4, 8, 0.5}, {"4", "8", "0.5"}}, {"act", {}, {"relu", "sgd(lr: 0.1, m: \"x\")"}}};
  const ArrayTextChoice read = readArray(text, factors, 1000);
  if (const auto* fault = std::get_if<ArrayTextFault>(&read)) {
    if (fault->begin > fault->end || fault->end > size || fault->cause.empty() || fault->wayOut.empty()) __builtin_trap();
    return 0;
  }
  const Array& array = std::get<Array>(read);
  if (array.runs == 0 || array.cells.size() != 2 * array.runs) __builtin_trap();
  const std::string names[] = {"batch", "act"};
  std::string again = tbem::csvLine(names);
  for (std::size_t r = 0; r < array.runs; ++r) {
    if (array.at(r, 0) >= 3 || array.at(r, 1) >= 2) __builtin_trap();
    const std::string fields[] = {factors[0].labels[array.at(r, 0)], factors[1].labels[array.at(r, 1)]};
    again += tbem::csvLine(fields);
  }
  const ArrayTextChoice back = readArray(again, factors, 1000);
  if (!std::holds_alternative<Array>(back) || std::get<Array>(back).cells != array.cells) __builtin_trap();
  return 0;
}
