// A program given as text as a network with known weights, whose costs are bounded.
#pragma once

#include "test/unit/graph/Fixture.h"

#include "compiler/certify/Certify.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tbem::test {

using Arrays = std::map<std::string, std::vector<double>, std::less<>>;

inline certify::ArraysByPath byPath(const Arrays& arrays) {
  return [&arrays](std::string_view path) -> std::optional<std::span<const double>> {
    const auto array = arrays.find(path);
    if (array == arrays.end()) return std::nullopt;
    return std::span<const double>(array->second);
  };
}

/// The first row of the program's first design, with these weights and running statistics.
inline tl::expected<certify::Network, std::string> certified(const std::string& text, const Arrays& arrays,
                                                             tbem_dtype dtype = TBEM_F32) {
  graph::ExperimentOptions options;
  options.dtype = dtype;
  Built built(text, options);
  const std::optional<graph::Row> row = built.row();
  EXPECT_TRUE(row) << text << built.errors();
  if (!row) return tl::unexpected(std::string("no row"));
  return certify::Network::of(*row, byPath(arrays));
}

}  // namespace tbem::test
