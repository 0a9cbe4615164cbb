// Where a command writes beside a program, and whether it can: asked before hours of measuring, not after.
#pragma once

#include "compiler/experiment/Workspace.h"

#include <string>

namespace tbem::driver {

/// The folder of plots, checkpoints and the page: --out, or NAME.out beside the program; NAME.out.d where NAME.out is a file,
/// such as the program's output that was redirected to it. "" for -e and standard input without --out.
std::string outFolder(const Workspace& workspace, const Options& options);

/// Whether --out can be made and --store lies in a folder that can be written. Errors: what is in the way.
tl::expected<void, Failed> foldersReady(const Options& options);

}  // namespace tbem::driver
