// Elaborates a program given as text and gives the rows of its first design.
#pragma once

#include "compiler/diagnostics/Render.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tbem::test {

struct Built {
  Session session;
  std::unique_ptr<sema::Program> program;
  std::optional<graph::DesignSpec> spec;
  std::unique_ptr<graph::Experiment> experiment;

  explicit Built(const std::string& text, graph::ExperimentOptions options = {}) {
    const Source& source = session.sources.add("test.tbem", text);
    program = sema::load(session.sources, session.sink, source, {});
    for (const auto& file : program->main().files) {
      for (const ast::Decl* decl : file->declarations) {
        if (decl->kind != ast::NodeKind::Design || spec || session.sink.hasErrors()) continue;
        spec = graph::readDesign(session, *program, *static_cast<const ast::Design*>(decl));
        if (spec) experiment = std::make_unique<graph::Experiment>(session, *program, *spec, options);
      }
    }
  }
  /// The row at these level positions; the first level of every factor where none are given.
  std::optional<graph::Row> row(std::vector<std::uint32_t> levels = {}) {
    if (!experiment) return std::nullopt;
    levels.resize(spec->factors.size(), 0);
    return experiment->row(levels);
  }
  std::string errors() const { return renderAll(session.sink, session.sources, {}); }
};

/// Learned numbers in a row.
inline std::int64_t parameters(const graph::Row& row) {
  std::int64_t total = 0;
  for (const graph::Graph::Weight& weight : row.graph().weights) {
    std::int64_t count = 1;
    for (const std::int64_t dim : row.shape(weight.value)) count *= dim;
    total += count;
  }
  return total;
}

/// Multiply-adds of the operators that `pick` chooses.
template <class Pick>
std::int64_t macs(const graph::Row& row, Pick&& pick) {
  std::int64_t total = 0;
  for (const graph::Op& op : row.graph().ops) {
    for (const graph::FlopPart& part : op.flops) {
      if (part.name == "mac" && pick(op)) total += row.integer(part.count);
    }
  }
  return total;
}

inline std::vector<std::string> weightPaths(const graph::Row& row) {
  std::vector<std::string> paths;
  for (const graph::Graph::Weight& weight : row.graph().weights)
    paths.push_back(row.graph()[row.graph()[weight.value].storage].path);
  return paths;
}

}  // namespace tbem::test
