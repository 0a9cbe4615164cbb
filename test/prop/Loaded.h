// A program given as text, from its first row to native code in memory.
#pragma once

#include "test/unit/graph/Fixture.h"

#include "compiler/graph/ir/Verify.h"
#include "compiler/jit/glue/Jit.h"
#include "compiler/lower/Lower.h"
#include "runtime/core/Executable.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::test {

struct Loaded {
  std::unique_ptr<Built> built;
  std::optional<graph::Row> row;
  std::optional<estimate::Program> program;
  std::optional<jit::Compiled> compiled;
  std::unique_ptr<runtime::Instance> instance;  ///< weights are initialised from seed 7; nullptr: a test has failed
};

inline Loaded loaded(const std::string& text, tbem_dtype dtype, const tbem_backend& backend,
                     const estimate::LowerOptions& options) {
  Loaded l;
  graph::ExperimentOptions experiment;
  experiment.dtype = dtype;
  l.built = std::make_unique<Built>(text, experiment);
  l.row = l.built->row();
  EXPECT_TRUE(l.row) << text << l.built->errors();
  if (!l.row) return l;
  EXPECT_EQ(graph::verify(l.row->graph()), std::vector<std::string>{}) << text;
  auto program = estimate::lower(l.row->graph(), l.row->values, backend, options);
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

}  // namespace tbem::test
