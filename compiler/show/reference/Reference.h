// Reference pages that are made from declarations: operators and devices.
#pragma once

#include "compiler/experiment/Workspace.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

/// All public operators of `std.nn`, which is `library`, in one table (Markdown): where they run, gradients, cost.
void printOperators(show::Out& out, const Workspace& workspace, const sema::Module& library);
/// All devices of `std.devices`, and the fields of a device, in tables (Markdown).
void printDevices(show::Out& out);

}  // namespace tbem::driver
