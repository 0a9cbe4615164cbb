// Buffers and plans as text: CSV with the columns id, lower, upper (exclusive), size, and in a plan offset. The columns are those
// of published instances (Moffitt 2023), so that planners can be compared.
#pragma once

#include "compiler/plan/Plan.h"
#include "compiler/support/Csv.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::estimate {

struct PlanFile {
  std::vector<std::string> ids;  ///< each once
  std::vector<Request> requests;
  std::vector<std::uint64_t> offsets;  ///< empty where the file has none
};

/// Reads a text with a header. Steps from 0 to 2^32 - 1, sizes and offsets in bytes, together at most 2^62.
tl::expected<PlanFile, CsvFault> readPlanFile(std::string_view text);
/// With offsets where there are any. Reads back as the same.
std::string planText(const PlanFile& plan);

/// What differs from one plan to another, in the order of `a`, then what only `b` has; empty: nothing.
std::vector<std::string> differences(const PlanFile& a, const PlanFile& b);

/// One past the highest byte in use.
std::uint64_t topOf(const PlanFile& plan);

}  // namespace tbem::estimate
