// Files of torch.save, and pickles alone.
#include "runtime/data/TorchFile.h"
#include "runtime/data/Pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto anyName = [](std::string_view, std::string_view name) {
    return name.ends_with("Dict") ? tbem::data::PickleName::Dictionary : tbem::data::PickleName::Noted;
  };
  if (const auto values = tbem::data::readPickle(bytes, anyName)) {
    using Kind = tbem::data::PickleValues::Kind;
    for (tbem::data::PickleValues::Value value = 0; value < values->count(); ++value) {
      if (values->kind(value) < Kind::List) continue;
      for (const auto item : values->items(value)) {
        if (item >= values->count()) __builtin_trap();
      }
    }
  }
  const auto file = tbem::data::parseTorchFile(bytes);
  if (!file) return 0;
  std::size_t sum = 0;
  for (const auto& array : file->arrays) {
    const auto elements = tbem::data::checkedElements(array.shape, tbem::data::elementBytes(array.dtype));
    if (!elements || *elements * tbem::data::elementBytes(array.dtype) != array.bytes.size()) __builtin_trap();
    for (const std::uint8_t byte : array.bytes) sum += byte;  // all that it says it has is there
  }
  volatile std::size_t used = sum;
  (void)used;
  return 0;
}
