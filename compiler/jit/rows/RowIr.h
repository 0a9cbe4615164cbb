// IR of a RowKernel.
#pragma once

#include "compiler/sema/Symbolic.h"

#include <llvm/IR/Module.h>
#include <tl/expected.hpp>

#include <span>
#include <string>

namespace tbem::jit {

/// Rows in a vector.
constexpr unsigned kRowLanes = 8;
constexpr const char* kRowFunction = "tbem_rows";

/// Adds `void tbem_rows(ptr levels, ptr results, i64 blocks)`: levels [block][symbol][lane], results [block][root + 1][lane], the
/// last of which is the largest magnitude that an operation on whole numbers gave, infinite where an operation was not exact. An
/// error names what has no such code, in words.
tl::expected<void, std::string> emitRows(llvm::Module& module, const sema::ExprPool& pool, std::span<const sema::ExprId> roots);

}  // namespace tbem::jit
