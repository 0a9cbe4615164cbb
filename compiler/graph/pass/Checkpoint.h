// Activation checkpointing: values of the forward pass that the backward pass computes again instead of keeping.
//
// Chen et al. 2016 (arXiv 1604.06174), section 4 and algorithm 2: what is dropped is computed again from what is kept, right
// before the gradient that reads it, and at most once (their m(v) is 0 or 1). Numbers are bit-equal: the same operators read the
// same values, and random numbers are keyed by (seed, stream, step, element). Operators that write buffers (running statistics)
// are never repeated.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::graph {

/// Clause `checkpoint` as the program writes it.
struct CheckpointSpec {
  enum class Kind : std::uint8_t {
    Auto,   ///< the compiler chooses
    All,    ///< every block of the network: a scope directly below it
    Places  ///< the blocks that `places` name
  } kind = Kind::Auto;
  std::optional<std::uint64_t> under;  ///< Auto: bytes that the arena may take; nothing: as few as can be found
  std::vector<std::string> places;     ///< "stage[2].residual"; one that leaves turns of loops out is every match
  SrcRange range;
};

/// What of a training step's forward pass can be computed again. By storage.
struct Repeatable {
  std::vector<bool> can;    ///< a value of one step whose only writer is a forward operator that changes nothing else
  std::vector<bool> saved;  ///< read by the backward pass of the step as it is
};
Repeatable repeatable(const Graph& graph);

/// A step of the changed program: an operator, or its repetition.
struct Repeat {
  OpId op{};
  bool again = false;
};
/// Finds what is repeated. Asked often, with one choice after the other, so it remembers what all choices have in common.
class Repeater {
public:
  /// `order`: a topological order of a graph without gates.
  Repeater(const Graph& graph, const std::vector<OpId>& order, const Repeatable& which);
  /// The operators of the order with those that are repeated before what reads them. `keep`, by storage: the forward value stays;
  /// every other one that can be is computed again where the backward pass reads it. A reader behind the forward pass reads the
  /// repetition of a value that has one. Valid until the next call.
  const std::vector<Repeat>& run(const std::vector<bool>& keep);

private:
  /// An input that may be computed again: its storage, and its producer's place in the order.
  struct Need {
    std::uint32_t storage = 0, producer = 0;
  };
  struct Place {
    OpId op{};
    bool isForward = false;
    std::uint32_t firstNeed = 0, endNeed = 0;
  };
  void repeatBefore(std::uint32_t reader, const std::vector<bool>& keep);

  std::vector<Place> places;  ///< in the order
  std::vector<Need> needs;
  std::vector<std::uint8_t> done;          ///< by place: repeated already
  std::vector<std::uint32_t> found, open;  ///< of one reader
  std::vector<Repeat> steps;
};

/// The step with these repetitions. Values of the row (sema::Values) serve it as they serve `graph`.
Graph recompute(const Graph& graph, const std::vector<bool>& keep);

/// `keep` where these blocks are recomputed: all but what is made inside one of them and read by no other forward operator.
std::vector<bool> keepOutside(const Graph& graph, const std::vector<bool>& scopes);
/// The scopes that the clause names, by scope, what stands inside them included; the first place that names none.
struct ScopeChoice {
  std::vector<bool> scopes;
  std::string unmet;  ///< empty: every place is there
};
ScopeChoice scopesOf(const Graph& graph, const CheckpointSpec& spec);
/// The block directly below the network in which a scope stands; scope 0 for the network itself.
ScopeId outermost(const Graph& graph, ScopeId scope);

}  // namespace tbem::graph
