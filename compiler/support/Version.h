// The program's version.
#pragma once

#include <string>

namespace tbem {

/// "tbemc 0.1.0"
std::string versionText();
/// "0.1.0": part of every row's identity.
inline constexpr const char* kVersion = "0.1.0";
/// Version of the objects that `--json` prints.
inline constexpr int kJsonSchema = 1;
/// Raised whenever lowering, fusion or code generation may change what a row takes: part of every row's identity.
inline constexpr int kLoweringVersion = 5;

}  // namespace tbem
