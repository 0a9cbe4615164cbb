// Fundamental types of PTX (PTX ISA 9.0, section 5.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tbem::card {

enum class Type : std::uint8_t { Pred, B8, U8, S8, B16, U16, S16, F16, BF16, B32, U32, S32, F32, B64, U64, S64, F64 };

/// "u32" without its dot; empty for what is no type.
std::optional<Type> typeOf(std::string_view name);
const char* nameOf(Type type);

/// 1 for predicates.
unsigned bytesOf(Type type);
bool isReal(Type type);
bool isSigned(Type type);

enum class Space : std::uint8_t { Generic, Global, Const, Shared, Local, Param };

/// "global" without its dot, "shared::cta" and "param::entry" too; empty for what is no state space.
std::optional<Space> spaceOf(std::string_view name);

}  // namespace tbem::card
