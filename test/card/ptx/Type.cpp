#include "test/card/ptx/Type.h"

#include <array>

namespace tbem::card {
namespace {

struct Row {
  const char* name;
  Type type;
  unsigned bytes;
};

constexpr std::array kTypes{
    Row{"pred", Type::Pred, 1}, Row{"b8", Type::B8, 1},   Row{"u8", Type::U8, 1},   Row{"s8", Type::S8, 1},
    Row{"b16", Type::B16, 2},   Row{"u16", Type::U16, 2}, Row{"s16", Type::S16, 2}, Row{"f16", Type::F16, 2},
    Row{"bf16", Type::BF16, 2}, Row{"b32", Type::B32, 4}, Row{"u32", Type::U32, 4}, Row{"s32", Type::S32, 4},
    Row{"f32", Type::F32, 4},   Row{"b64", Type::B64, 8}, Row{"u64", Type::U64, 8}, Row{"s64", Type::S64, 8},
    Row{"f64", Type::F64, 8},
};

}  // namespace

std::optional<Type> typeOf(std::string_view name) {
  for (const Row& row : kTypes)
    if (name == row.name) return row.type;
  return std::nullopt;
}

const char* nameOf(Type type) { return kTypes[static_cast<std::size_t>(type)].name; }

unsigned bytesOf(Type type) { return kTypes[static_cast<std::size_t>(type)].bytes; }

bool isReal(Type type) { return type == Type::F16 || type == Type::BF16 || type == Type::F32 || type == Type::F64; }

bool isSigned(Type type) { return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64; }

std::optional<Space> spaceOf(std::string_view name) {
  if (name == "global") return Space::Global;
  if (name == "const") return Space::Const;
  if (name == "shared" || name == "shared::cta") return Space::Shared;
  if (name == "local") return Space::Local;
  if (name == "param" || name == "param::entry" || name == "param::func") return Space::Param;
  return std::nullopt;
}

}  // namespace tbem::card
