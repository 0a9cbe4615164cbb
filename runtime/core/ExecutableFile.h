// A row that was lowered and compiled, as a file: what the process that measures it needs, so that it has no compiler's work to
// do. It is read again by the same program, within one campaign; no version but its own is understood.
//
// A line with the format's name and version, a checksum, and the body: whole numbers in groups of seven bits, the lowest first,
// those that may be negative in zigzag; real numbers in eight bytes; texts and lists behind their length.
#pragma once

#include "runtime/core/ProtocolSettings.h"
#include "tbem/executable.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::runtime {

/// A library of the program's own operators.
struct LibraryDesc {
  std::string path;
  std::string hash;  ///< of its content when the row was planned
};

struct ExecutableFile {
  std::string identity;  ///< of the row
  std::string backend;   ///< its name
  std::string device;    ///< for which the calls were chosen, in words
  std::string object;    ///< key of the native code in the cache of compiled objects
  std::vector<LibraryDesc> libraries;
  std::uint64_t seed = 0;
  ProtocolSettings protocol;
  Executable executable;  ///< without `step`
};

/// Dimensions, strides and blocks of an operand that it does not use are not kept.
std::string executableText(const ExecutableFile& file);
/// What was written. Numbers that name something in the file name what is there; that a plan is sound is Instance's to check.
/// Errors: `name` (the path), the place, what is there, what was expected, and the way out.
tl::expected<ExecutableFile, std::string> readExecutable(std::string_view text, std::string_view name);

/// The file's bytes around a body.
std::string sealExecutable(std::string_view body);

}  // namespace tbem::runtime
