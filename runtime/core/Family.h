// What backends share whose primitives come in families: an operator's own copy of its description, and the way from a
// description to an operator.
#pragma once

#include "tbem/backend.h"

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace tbem::runtime {

/// A copy of a description that owns what it points at.
struct OwnDescription {
  explicit OwnDescription(const tbem_op_desc& from);
  OwnDescription(const OwnDescription&) = delete;
  OwnDescription& operator=(const OwnDescription&) = delete;

  tbem_op_desc desc;
  std::vector<tbem_operand> operands;
  std::vector<std::int64_t> attributes;
};

/// A family of primitives of a backend whose prepared operators are `Op`. `query` gets a description that passed checkDescription
/// and fills what is `any`, and the workspace; `create` gets one without `any` that passed its query.
template <class Op>
struct FamilyOf {
  tbem_status (*query)(tbem_op_desc& op, tbem_op_info& info);
  tbem_status (*create)(const tbem_op_desc& op, std::unique_ptr<Op>& out);

  /// Whose primitives are all prepared as one kind of operator.
  template <class Only>
  static FamilyOf of(tbem_status (*query)(tbem_op_desc& op, tbem_op_info& info)) {
    return {query, [](const tbem_op_desc& op, std::unique_ptr<Op>& out) {
              out = std::make_unique<Only>(op);
              return tbem_status{TBEM_OK};
            }};
  }
};

/// Keeps a message for last_error and returns the status.
using Fail = tbem_status (*)(tbem_status status, const std::string& message);

/// Runs `body`, and turns what the standard library throws into a status; `noMemory` is said where there is none.
template <class Body>
tbem_status guarded(Fail fail, const char* noMemory, Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(TBEM_OUT_OF_MEMORY, noMemory);
  } catch (const std::exception& error) {
    return fail(TBEM_FAILED, error.what());
  }
}

/// Whether every operand that is there has its layout.
bool layoutsAreChosen(const tbem_op_desc& op);

/// Prepares a checked description, whose layouts are all chosen, after the same questions as a query's.
template <class Op>
tbem_status createBy(const FamilyOf<Op>& family, const tbem_op_desc& op, tbem_op** out) {
  OwnDescription copy(op);  // nothing is `any`, so nothing is changed
  tbem_op_info info{};
  if (const tbem_status status = family.query(copy.desc, info)) return status;
  std::unique_ptr<Op> made;
  const tbem_status status = family.create(op, made);
  if (status == TBEM_OK) *out = reinterpret_cast<tbem_op*>(made.release());
  return status;
}

}  // namespace tbem::runtime
