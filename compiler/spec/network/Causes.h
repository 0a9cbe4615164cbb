// Boxes of levels at which something breaks. Internal to this folder.
#pragma once

#include "compiler/spec/network/Levels.h"

namespace tbem::spec {

/// Which combinations of the levels of some factors break a condition; the last factor runs fastest.
struct Broken {
  std::vector<std::uint32_t> factors;  ///< ascending
  std::vector<std::size_t> sizes;      ///< number of levels of each
  std::vector<bool> at;
  std::vector<bool> exists;  ///< false: no row has this combination, so it does not matter; empty: all exist
};

/// Prime implicants that cover what is broken, the largest first, a few at most; `all`: nothing is left.
std::vector<std::vector<Cause>> causesOf(const Broken& broken, const graph::ExperimentSpec& spec, bool& all);

}  // namespace tbem::spec
