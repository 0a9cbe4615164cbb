// What all stages of the pipeline hand on, and what commands ask of the last ones.
#pragma once

#include "compiler/explore/Fit.h"
#include "compiler/explore/Screen.h"
#include "compiler/explore/WhatIf.h"
#include "compiler/run/State.h"
#include "compiler/verify/Proofs.h"

namespace tbem::driver {

/// What some stages are asked beside the request.
struct Questions {
  ProofRequest proofs;
  ScreenRequest screen;
  const FitRequest* fit = nullptr;        ///< nullptr: the command has no such question
  const WhatIfRequest* whatIf = nullptr;  ///< the same
};

struct PipelineState : State {
  using State::State;

  Questions questions;
  Proofs proved;           ///< after `spec`
  Screening screening;     ///< after `screen`
  FitAnswers fits;         ///< after `fit`, and where it ended early
  WhatIfAnswers answered;  ///< after `what-if`, and where it ended early
};

/// While it lives, a state has the program that another has loaded, whose names were checked; the other has none.
class LentProgram {
public:
  LentProgram(PipelineState& from, PipelineState& to);
  ~LentProgram();
  LentProgram(const LentProgram&) = delete;
  LentProgram& operator=(const LentProgram&) = delete;

private:
  PipelineState& from;
  PipelineState& to;
};

}  // namespace tbem::driver
