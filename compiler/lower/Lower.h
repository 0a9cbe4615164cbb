// From a graph and the numbers of a row to the program that one device runs: schedule, layouts, fused loops, workspaces,
// lifetimes, offsets.
//
// The device is asked for layouts and workspaces (`tbem_backend::query`); nothing is guessed. What `lower` returns is what the
// estimator prints and what native code runs.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/lower/Choices.h"
#include "compiler/lower/program/Link.h"
#include "compiler/lower/program/Program.h"
#include "runtime/include/tbem/native.h"

#include <tl/expected.hpp>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::estimate {

/// Answers of a backend by description. Equal descriptions have equal answers on one machine, so rows share one.
class QueryCache {
public:
  QueryCache();
  ~QueryCache();
  QueryCache(QueryCache&&) noexcept;
  QueryCache& operator=(QueryCache&&) noexcept;
  struct Impl;
  Impl& impl() { return *data; }
  std::size_t size() const;
  /// Seconds spent in the backend.
  double seconds() const;

private:
  std::unique_ptr<Impl> data;
};

/// Why there is no program: a row of the table of diagnostics (E05xx), its arguments, and the place.
struct LowerError {
  Diag kind{};
  SrcRange range;
  std::vector<std::string> arguments;
  Diagnostic& report(DiagnosticSink& sink) const;
};

/// The workspace that the library of an operator's own code asks for, in bytes; it is opened for that, which runs code of it.
/// Errors: the library or its symbol is missing.
using OwnWorkspace =
    std::function<tl::expected<std::uint64_t, LowerError>(const graph::OwnCode& code, const tbem_native_args& args)>;

struct LowerOptions {
  int threads = 1;
  bool keepGradients = false;  ///< weights' gradients stay readable after the step
  bool keepOutputs = false;    ///< of a training step; those of inference are always kept
  bool fuse = true;
  /// Operators run in another order where that lowers the arena, or, on a device, lets updates wait for the step's end without
  /// raising it; else in the schedule's.
  bool searchOrder = true;
  std::function<void(std::size_t round)> orderChanged;  ///< told as that search goes on; may be empty
  /// Behind a gate, each thread runs steps for as many samples at a time as keep so many bytes at hand; 0: all threads run each
  /// step for all samples. An eighth of a second-level cache of 2 MiB, in which the batch's own rows stay too (measured:
  /// gates.md); fixed, so that a plan does not depend on the machine that makes it.
  std::uint64_t chunkBytes = std::uint64_t{256} << 10U;
  const Places* places = nullptr;    ///< borrowed: storages of other functions, which lie here as they do there (program/Link.h)
  OwnWorkspace ownWorkspace;         ///< empty: no library is opened, workspaces are as declared (NativeCall::unknownWorkspace)
  QueryCache* cache = nullptr;       ///< borrowed; nothing: one of this call alone
  const Choices* choices = nullptr;  ///< borrowed; nothing: the backend's default algorithms, and no call says `assumed`
  /// With `choices`: by what share the arena may be larger than that of the default algorithms. Of several algorithms each
  /// operator takes the best whose workspace is at most W, with the largest W that keeps the arena within. Nothing: no limit.
  std::optional<double> arenaGrowth;
  std::uint64_t mostWorkspace = std::numeric_limits<std::uint64_t>::max();  ///< W, of algorithms that are no defaults
};

/// Values that the caller reads after the step.
std::vector<graph::TensorId> keptValues(const graph::Graph& graph, const LowerOptions& options);

/// Contracts of the result, beyond Program.h:
/// - A full-sized operand of a fused loop lies where the loop's layout says; a broadcast one is row-major.
/// - An element's inputs are all read before an output of it is written; an output may share the allocation of an input that
///   every read of the loop takes at the same element.
/// - Persistent allocations lie below all others.
/// - Outputs kept for the caller are row-major; weights, gradients and states have the layout that the weight's operator wants.
tl::expected<Program, LowerError> lower(const graph::Graph& graph, const sema::Values& values, const tbem_backend& backend,
                                        const LowerOptions& options);

}  // namespace tbem::estimate
