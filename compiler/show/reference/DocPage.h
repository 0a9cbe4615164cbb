// What `tbemc doc NAME` shows: a module's declarations, a line each, or a declaration's documentation and text. What is printed
// is what the compiler reads: there is no second source.
#pragma once

#include "compiler/experiment/Workspace.h"
#include "compiler/show/Out.h"

#include <string>

namespace tbem::driver {

/// Of the standard library: a module (std.nn), or declarations (conv2d, std.nn.conv2d). Errors: there is none of that name.
tl::expected<void, Failed> printDoc(show::Out& out, const Workspace& workspace, const std::string& name);

}  // namespace tbem::driver
