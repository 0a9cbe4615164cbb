#include "compiler/run/weights/WeightsHash.h"

#include "compiler/jit/glue/Cache.h"

namespace tbem::driver {

std::string hashOf(const train::Snapshot& weights) {
  std::string bytes;
  for (const train::Snapshot::Entry& entry : weights.entries) {
    bytes += entry.path;
    bytes.append(reinterpret_cast<const char*>(entry.value.data.data()), entry.value.data.size());
  }
  return jit::hashKey(bytes);
}

}  // namespace tbem::driver
