#include "compiler/lower/Samples.h"

namespace tbem::estimate {

std::vector<std::int64_t> sampleSizes(std::int64_t samples) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size < samples; size += 1 + size / 32) sizes.push_back(size);
  sizes.push_back(samples);
  return sizes;
}

}  // namespace tbem::estimate
