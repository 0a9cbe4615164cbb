// A gated network loaded on a backend, and a backend that notes what it runs.
#pragma once

#include "test/unit/graph/Fixture.h"

#include "compiler/estimate/Lower.h"
#include "compiler/jit/Jit.h"
#include "runtime/core/Executable.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::test {

/// A network loaded on a backend.
struct Loaded {
  std::unique_ptr<Built> built;
  std::optional<graph::Row> row;
  std::optional<estimate::Program> program;
  std::optional<jit::Compiled> compiled;
  std::unique_ptr<runtime::Instance> instance;
};

/// `chunkBytes`: as LowerOptions::chunkBytes; all samples at once in networks as small as these.
inline Loaded load(const std::string& text, tbem_dtype dtype, const tbem_backend& backend, std::uint64_t chunkBytes = 0) {
  Loaded l;
  graph::ExperimentOptions options;
  options.dtype = dtype;
  l.built = std::make_unique<Built>(text, options);
  l.row = l.built->row();
  EXPECT_TRUE(l.row) << text << l.built->errors();
  if (!l.row) return l;
  EXPECT_EQ(graph::verify(l.row->graph()), std::vector<std::string>{}) << text;
  auto program = estimate::lower(l.row->graph(), l.row->values, backend, {.threads = 2, .chunkBytes = chunkBytes});
  EXPECT_TRUE(program) << text << (program ? "" : info(program.error().kind).message) << " "
                       << (program || program.error().arguments.empty() ? "" : program.error().arguments.back());
  if (!program) return l;
  l.program = std::move(*program);
  auto compiled = jit::compile(*l.program, {.cache = false});
  EXPECT_TRUE(compiled) << text << (compiled ? "" : compiled.error().message);
  if (!compiled) return l;
  l.compiled = std::move(*compiled);
  const auto described = jit::describeStorages(*l.program, l.row->graph(), l.row->values, l.compiled->executable);
  EXPECT_TRUE(described);
  auto instance = runtime::Instance::create(l.compiled->executable, backend, {.poison = true, .guard = 4096});
  EXPECT_TRUE(instance) << text << (instance ? "" : instance.error().message);
  if (!instance) return l;
  l.instance = std::move(*instance);
  EXPECT_TRUE(l.instance->initialise(7));
  return l;
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
