// Where a stand-in's work is done: on the card where the process has opened a driver, else by the host.
#pragma once

#include "test/standin/Work.h"

#include <cstddef>
#include <string>

namespace tbem::standin {

/// What goes wrong: on the card, a number of the driver's and what was being done.
struct Outcome {
  int error = 0;
  const char* doing = "";
  bool fine() const { return error == 0; }
};

Outcome run(const ProductWork& work, void* stream);
Outcome run(const ConvWork& work, void* stream);
Outcome run(const StepWork& work, void* stream);
/// A workspace's bytes are no numbers when an algorithm begins.
Outcome spoil(void* workspace, std::size_t bytes, void* stream);

}  // namespace tbem::standin
