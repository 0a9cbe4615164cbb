// Several programs as functions over one set of storages: a training step and the evaluations of what it has learned.
//
// Weights, buffers, states and constants of the same class and path are one storage, and lie in one region at the bottom of the
// arena. Above it each function has what it needs while it runs, its inputs included, over that of the others: only one runs at
// a time. So the arena is as large as all storages and the largest function's own part:
//
//     [ storages of all | inputs, temporaries of A     ]
//                       [ inputs, temporaries of B ]
#pragma once

#include "compiler/lower/program/Program.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tbem::estimate {

/// Where storages lie that functions share, by class and path: the layouts that one program has, which another, lowered with them
/// (LowerOptions::places), has too.
using Places = std::map<std::pair<graph::StorageClass, std::string>, tbem_operand>;

/// Whether functions that have a storage of this class share it: it outlives their runs. Inputs are arguments.
bool isShared(graph::StorageClass kind);

/// The storages of a lowered graph that functions share.
Places placesOf(const graph::Graph& graph, const Program& program);

struct Function {
  std::string name;  ///< for people: "the training step"
  const graph::Graph* graph = nullptr;
  Program program;
};

struct Linked {
  std::vector<Program> programs;  ///< as they were, with offsets in the common arena; each one's `arena` ends with its own part
  std::uint64_t storages = 0;     ///< bytes that all share
  std::uint64_t arena = 0;        ///< bytes; the largest of the programs'
};

/// The functions in one arena. Errors, in words: a storage that two functions have differs in type or shape, or in layout (they
/// were not lowered with one another's places).
tl::expected<Linked, std::string> link(std::vector<Function> functions);

}  // namespace tbem::estimate
