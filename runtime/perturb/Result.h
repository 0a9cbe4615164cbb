// How functions of this folder fail.
#pragma once

#include "runtime/perturb/Perturb.h"

#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace tbem::perturb {

template <class T>
using Result = tl::expected<T, Failure>;

inline tl::unexpected<Failure> failure(Failure::Kind kind, std::string message) {
  return tl::unexpected(Failure{kind, std::move(message)});
}

}  // namespace tbem::perturb
