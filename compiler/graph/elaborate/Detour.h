// Evaluation of another place in between: a gradient's clause, an arm of a gate, an update. Internal to compiler/graph.
#pragma once

#include "compiler/graph/elaborate/Elaborator.h"

namespace tbem::graph {

/// When it ends, all that says where an evaluation stands is as it was before.
class Elaborator::Detour {
public:
  explicit Detour(Elaborator& e)
      : e(e), frame(e.frame), now(e.now), stamp(e.builder.stamp), paths(e.paths.depth()), applying(e.applying.size()) {}
  /// Into another phase, where names of instances are given anew.
  Detour(Elaborator& e, Phase phase) : Detour(e) {
    e.builder.stamp = {phase, kNoOp, e.builder.stamp.region};
    e.paths.enter("");
  }
  ~Detour() {
    e.frame = frame;
    e.now = now;
    e.builder.stamp = stamp;
    while (e.paths.depth() > paths) e.paths.leave();
    e.applying.resize(applying);
  }
  Detour(const Detour&) = delete;
  Detour& operator=(const Detour&) = delete;

private:
  Elaborator& e;
  Frame* frame;
  Now now;
  GraphBuilder::Stamp stamp;
  std::size_t paths, applying;
};

}  // namespace tbem::graph
