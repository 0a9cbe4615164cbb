// Proofs and tests of specifications: the parts of `tbemc spec`.
#pragma once

#include "compiler/devices/EngineRequest.h"
#include "compiler/driver/Command.h"
#include "compiler/spec/prove/Work.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tbem::driver {

/// An answer is the same on every machine where no cuDNN is asked.
inline EngineRequest withoutCudnn() {
  EngineRequest request;
  request.cudnn = "none";
  return request;
}

struct SpecOptions : CommandOptions {
  bool strict = false;                      ///< what is left to a check at run time is a verdict against the program
  std::uint64_t effort = spec::Work::kAll;  ///< work of all proofs
  EngineRequest engines = withoutCudnn();   ///< of budgets in PyTorch
  // Of --tests
  bool tests = false;
  bool csv = false;
  std::uint64_t cases = 256;            ///< of a scenario, at most
  std::int64_t step = 1, distance = 4;  ///< from case to case, and where it turns back
  std::string answering;                ///< the command that answers cases
  std::uint64_t rank = 2;               ///< dimensions of `..s`
  double caseTime = 10;                 ///< seconds that a case may take
};

/// spec --tests: the exit status.
int runSpecTests(show::Out& out, const SpecOptions& options);

}  // namespace tbem::driver
