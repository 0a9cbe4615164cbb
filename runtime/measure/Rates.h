// What a backend attains on this machine, for rooflines: arithmetic by a large matrix product, bandwidth by passes over arrays
// that no cache holds (as STREAM does; McCalpin 1995, "Memory bandwidth and machine balance in current high performance
// computers").
#pragma once

#include "tbem/backend.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::measure {

struct Rates {
  double flops = 0;      ///< FLOPs a second of f32 products, a multiply-add being 2
  double bandwidth = 0;  ///< bytes a second: the better of reading alone and of a[i] = b[i] + s c[i]
};

/// The best of several runs over about a second, on the backend's own threads and 400 MB of memory. The backend must hold its
/// tensors in memory that this process can touch. Errors: what the backend lacks, in words.
tl::expected<Rates, std::string> measureRates(const tbem_backend& backend, int threads);

}  // namespace tbem::measure
