// From a lowered program to a native step: LLVM IR, compiled by ORC in this process, with an object cache on disk.
//
// Two modules: the loops (optimised for this processor) and the glue `tbem_step` (one call a step of the schedule, no
// optimisation: its compile time grows faster than its length). Loops of equal shape share one kernel.
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/lower/program/Program.h"
#include "tbem/executable.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace tbem::jit {

struct JitOptions {
  bool cache = true;
  std::string cacheDir;   ///< "": $XDG_CACHE_HOME/tbemc, or ~/.cache/tbemc; with neither, no cache
  bool link = true;       ///< false: the object is put into the cache for other processes, and `step` stays null
  std::string libdevice;  ///< a file of the CUDA toolkit; "": where it usually lies
  /// A program for cards is compiled for those of this architecture ("sm_90", as the backend says) beside its PTX; "": PTX alone.
  std::string architecture;
  bool marks = false;   ///< call tbem_rt_mark after each step of the schedule
  bool keepIr = false;  ///< fill Compiled::ir and assembly; compiles even where the object is cached
};

struct Error {
  std::string message;
  bool bug = false;  ///< ours (an unsound program), not the environment's
};

/// What one loop became, for people and tests.
struct LoopReport {
  std::int64_t count = 0;    ///< trip count of the parallel index, of the whole batch; 0: nothing to do
  bool parallel = false;     ///< run on threads
  std::uint32_t kernel = 0;  ///< loops with equal numbers share code
  PerSample perSample;
};

struct LinkedCode;

/// A step in memory, ready to run. `step` and `executable.step` are valid while this lives.
struct Compiled {
  Compiled();
  Compiled(Compiled&&) noexcept;
  Compiled& operator=(Compiled&&) noexcept;
  ~Compiled();

  tbem_rt_step step = nullptr;
  runtime::Executable executable;  ///< as `describe` makes it, with `step`
  std::string ir;                  ///< with keepIr: loops before optimisation, after it, and the glue
  std::string assembly;            ///< with keepIr: of the loops; PTX where they are for a card
  std::vector<LoopReport> loops;   ///< with keepIr, one a loop
  std::string key;                 ///< the object's name in the cache: 32 hexadecimal digits
  std::string cachePath;           ///< "" without a cache
  std::string cacheNote;           ///< why the cache could not be used; "" if all is well
  bool cacheHit = false;
  double seconds = 0;  ///< wall time of compile

  std::unique_ptr<LinkedCode> code;  ///< what holds `step`
};

tl::expected<Compiled, Error> compile(const estimate::Program& program, const JitOptions& options = {});

/// The step that was put into the cache under this key: for processes that do not compile. Its executable holds `step` alone. An
/// error where it is not there.
tl::expected<Compiled, Error> load(const std::string& key, const std::string& cacheDir);

/// The program as the runtime takes it: buffers, calls, arena, scalars; without `step` and without storages. The loss and the
/// outputs of the graph are not known here: describeStorages adds them.
runtime::Executable describe(const estimate::Program& program);

/// Adds what the graph knows: persistent storages with their paths and initialisers (evaluated in the row), bounds of integer
/// targets (the classes of the cross entropy that reads them), names of scalars, the loss, the outputs.
/// An error where an initialiser's parameter has no value in the row.
tl::expected<void, std::string> describeStorages(const estimate::Program& program, const graph::Graph& graph,
                                                 const sema::Values& values, runtime::Executable& executable);

/// The default cache folder, or "" where the environment has no home.
std::string defaultCacheDir();

}  // namespace tbem::jit
