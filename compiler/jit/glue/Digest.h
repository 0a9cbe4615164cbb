// A digest that nobody can meet with other bytes, for what people compare and trust.
#pragma once

#include <string>
#include <string_view>

namespace tbem::jit {

/// SHA-256 (FIPS 180-4), as 64 hexadecimal digits, as `sha256sum` prints it.
std::string sha256(std::string_view bytes);

}  // namespace tbem::jit
