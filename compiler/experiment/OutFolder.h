// Where a command writes beside a program, and whether it can: asked before hours of measuring, not after.
#pragma once

#include "compiler/experiment/Workspace.h"
#include "compiler/experiment/trainings/Trainings.h"

#include <string>

namespace tbem::driver {

/// The folder of plots, checkpoints and the page: --out, or NAME.out beside the program; NAME.out.d where NAME.out is a file,
/// such as the program's output that was redirected to it. "" for -e and standard input without --out.
std::string outFolder(const Workspace& workspace, const std::string& asked);

/// Where a training's checkpoint lies: in `outFolder`; "" where there is none.
std::string checkpointPath(const Workspace& workspace, const TrainingRun& training, const std::string& asked);

/// Whether --out can be made and --store lies in a folder that can be written. Errors: what is in the way.
tl::expected<void, Failed> foldersReady(const std::string& store, const std::string& out);

}  // namespace tbem::driver
