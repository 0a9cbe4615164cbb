// Numbers of samples for which what stands behind a gate is prepared.
#pragma once

#include <cstdint>
#include <vector>

namespace tbem::estimate {

/// Numbers of samples for which a native call behind a gate is prepared: all up to 32, then so many that at most 1/32 of the rows
/// are computed in vain; `samples` itself is the last.
std::vector<std::int64_t> sampleSizes(std::int64_t samples);

}  // namespace tbem::estimate
