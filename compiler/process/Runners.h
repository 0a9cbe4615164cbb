// The scripts of tools/runners, which this program holds: what runs in other programs' processes.
#pragma once

#include <string>
#include <string_view>

namespace tbem::driver {

/// "framework.py" takes the steps of a row, with the meters of "meters.py"; "look.py" says what a Python has; "export.py" exports
/// a model of PyTorch.
std::string runnerText(std::string_view name);

}  // namespace tbem::driver
