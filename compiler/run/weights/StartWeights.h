// What a training begins with in place of its initialisers: clause `weights`.
#pragma once

#include "compiler/experiment/trainings/Trainings.h"
#include "compiler/run/weights/LoadWeights.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::driver {

/// A file of arrays and what of it has a place in the training's step.
struct StartWeights {
  std::string path;
  data::ArrayFile file;
  ArrayComparison comparison;  ///< points into `file`
  bool partial = false;
  std::string hash;  ///< of the numbers that have a place
};

/// Where files are that the clause names.
struct StartFolders {
  std::string program;  ///< of the program, relative to which its files are
  std::string kept;     ///< of the trainings, the one that the clause names among them; "": they are kept nowhere
};

/// Opens the file. Errors: kEnvironment, it cannot be read, or its table of names.
tl::expected<StartWeights, Failed> startOf(const TrainingRun& training, const graph::Row& step, const StartFolders& folders);

/// "begins with 36 arrays of first.safetensors; 2 stay as they are initialised: head.weight, head.bias"
std::string startText(const StartWeights& start);

}  // namespace tbem::driver
