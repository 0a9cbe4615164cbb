// Recorded exports of models, and programs made of them.
#include "compiler/import/Import.h"

#include <utility>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbem::imports;
  tl::expected<Exported, ExportFailure> model = readExport({reinterpret_cast<const char*>(data), size});
  if (!model) return 0;
  const Imported imported = programOf(std::move(*model), "net", {}, size % 2 == 0);
  if (imported.lacking.empty() && imported.text.empty()) __builtin_trap();
  return 0;
}
