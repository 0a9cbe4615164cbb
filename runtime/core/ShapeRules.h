// What the rules of primitives have in common. Internal to this folder.
//
// A rule gives "" or what is wrong with the description, in words.
#pragma once

#include "runtime/core/Layout.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tbem::runtime::detail {

/// "conv2d: groups is 3 where 1 is expected".
std::string mismatch(const tbem_op_desc& op, std::string_view what, std::int64_t is, std::int64_t expected);
/// "conv2d: shapes [..] [..] do not fit: four dimensions each".
std::string shapes(const tbem_op_desc& op, std::string_view rule);
bool sameShape(const tbem_operand& a, const tbem_operand& b);

std::string checkTypes(const tbem_op_desc& op);
/// Element types and shapes.
std::string checkShapes(const tbem_op_desc& op);

// MoveShapes.cpp
std::string checkMove(const tbem_op_desc& op);
std::string checkConcat(const tbem_op_desc& op);
std::string checkGather(const tbem_op_desc& op);
std::string checkArgMax(const tbem_op_desc& op);
std::string checkRows(const tbem_op_desc& op);

}  // namespace tbem::runtime::detail
