// A row's step with tensors that come and go: behind `tbem_step`. Internal to this folder.
#pragma once

#include "compiler/embed/Answer.h"
#include "compiler/embed/Session.h"
#include "compiler/embed/Tensors.h"
#include "compiler/pipeline/PipelineState.h"
#include "compiler/run/weights/StepFile.h"

#include <tl/expected.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::embed {

using Done = tl::expected<void, std::string>;

/// A tensor of the step.
struct StepTensor {
  std::string name;
  std::uint32_t buffer = 0;  ///< into Executable::buffers
  bool begins = false;       ///< the step begins with it
  Shape shape;               ///< with the strides that the step's memory has, row-major where it has none
  std::string copiedIn, copiedOut;
  // Outside of the arena (jit/glue/Outside.h):
  Memory own;             ///< nullptr: it lies in the arena
  Memory lies;            ///< `own`, or the caller's
  bool readOnly = false;  ///< the caller said so of `lies`
};

class Step {
public:
  Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Once, before all else: the row, compiled and filled. What there is to say; TBEM_DONE: the step is there.
  Answer compile(const Session& session, std::span<const tbem_option> options);
  std::vector<StepTensor>& tensors() { return all; }
  /// Errors: there is no tensor of this name; the nearest is told.
  tl::expected<StepTensor*, std::string> find(const std::string& name);

  /// The elements are copied.
  Done copyIn(StepTensor& to, const Viewed& from);
  /// Why the tensor cannot be read where it lies; "".
  std::string whyNotShared(const StepTensor& to, const Viewed& from) const;
  /// From now on it is read in `memory`, which begins with its first element. `whyNotShared` is "".
  void shareIn(StepTensor& to, Memory memory, bool readOnly);

  /// Its elements in memory of their own, row-major.
  tl::expected<Memory, std::string> copyOut(const StepTensor& from) const;
  /// The step's memory of it, which keeps `self`, this step. Its `copiedOut` is "".
  Memory shareOut(const StepTensor& from, const std::shared_ptr<Step>& self) const;

  /// `tells`: the answer has the line of kind `step`.
  Answer run(std::uint32_t steps, bool tells);

private:
  int lower();
  int makeCode();
  void listTensors();
  Done placeOutside();
  const driver::RowState& row() const { return state->rows.front(); }

  // In the order in which they need each other.
  std::unique_ptr<driver::Invocation> command;
  show::JsonOut out;  ///< what was said while it was compiled
  std::optional<driver::PipelineState> state;
  std::unique_ptr<runtime::Instance> instance;
  std::vector<StepTensor> all;
  std::uint64_t done = 0;  ///< steps that were run
};

}  // namespace tbem::embed
