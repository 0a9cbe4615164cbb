// What `tbemc replay` shows of a recording.
#pragma once

#include "compiler/pytorch/rows/ReplayRecorded.h"
#include "compiler/show/Out.h"

#include <string>

namespace tbem::driver {

void printReplay(show::Out& out, bool saysOptions, const std::string& path, const ReplayedTrace& traced);
void printReplayJson(show::Out& out, const std::string& path, const ReplayedTrace& traced);

}  // namespace tbem::driver
