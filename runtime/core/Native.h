// Operators' own code in shared libraries (runtime/include/tbem/native.h).
#pragma once

#include "tbem/native.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace tbem::runtime {

/// An operator's functions. Its library stays loaded until the process ends.
struct NativeCode {
  tbem_native_function run = nullptr;
  tbem_native_workspace workspace = nullptr;  ///< null: it needs none
};

struct NativeProblem {
  enum class Kind : std::uint8_t { NoFile, NotLoadable, NoSymbol, OtherAbi } kind{};
  std::string text;  ///< the loader's own words, or the two version numbers
};

/// Whether this process has loaded the library.
bool isNativeLoaded(const std::string& library);
/// Loads `library` (a path) where it is not loaded yet, and finds `symbol`. May run the library's constructors.
tl::expected<NativeCode, NativeProblem> loadNative(const std::string& library, const std::string& symbol);

}  // namespace tbem::runtime
