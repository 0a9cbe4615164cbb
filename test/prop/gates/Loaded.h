// Gated networks in memory, and a backend that notes what it runs.
#pragma once

#include "test/prop/Loaded.h"

#include <map>
#include <string>
#include <vector>

namespace tbem::test {

/// `chunkBytes`: as LowerOptions::chunkBytes; all samples at once in networks as small as these.
inline Loaded load(const std::string& text, tbem_dtype dtype, const tbem_backend& backend, std::uint64_t chunkBytes = 0) {
  return loaded(text, dtype, backend, {.threads = 2, .chunkBytes = chunkBytes});
}

/// For `load`: values of a sample take 800 B in f64, and each of two threads runs one or two at a time.
constexpr std::uint64_t kFewBytes = 7000;

struct Ran {
  int primitive = 0;
  std::int64_t rows = 0;
  friend bool operator==(const Ran&, const Ran&) = default;
};
inline std::map<tbem_op*, Ran> prepared;
inline std::vector<Ran> ran;  ///< since it was cleared

/// ref, which notes what it runs.
inline const tbem_backend& noting() {
  static const tbem_backend table = [] {
    tbem_backend t = *tbem_backend_ref();
    t.create = [](const tbem_op_desc* op, tbem_op** out) {
      const tbem_status status = tbem_backend_ref()->create(op, out);
      if (status == TBEM_OK) prepared[*out] = {op->primitive, op->operands[0].dims[0]};
      return status;
    };
    t.run = [](tbem_op* op, void* const* operands, void* work, const double* scalars) {
      ran.push_back(prepared.at(op));
      return tbem_backend_ref()->run(op, operands, work, scalars);
    };
    return t;
  }();
  return table;
}

/// Rows of the first operand, call by call.
inline std::vector<std::int64_t> rowsOf(tbem_primitive primitive) {
  std::vector<std::int64_t> rows;
  for (const Ran& one : ran) {
    if (one.primitive == primitive) rows.push_back(one.rows);
  }
  return rows;
}

}  // namespace tbem::test
