// Tables of weights' names, and matching by them.
#include "compiler/run/weights/WeightNames.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem::driver;
  const auto rules = parseNameTable({reinterpret_cast<const char*>(data), size});
  if (!rules) return 0;
  const NamedRank theirs[] = {{"layer1.0.conv1.weight", 4}, {"layer1.10.conv1.weight", 4}, {"fc.bias", 1}, {"fc.weight", 2}};
  const std::string ours[] = {"stage[0].unit[0].conv2d.weight", "stage[0].unit[1].conv2d.weight", "dense.bias", "dense.weight"};
  const auto matched = matchNames(*rules, theirs, ours);
  if (matched && matched->size() != std::size(theirs)) __builtin_trap();
  return 0;
}
