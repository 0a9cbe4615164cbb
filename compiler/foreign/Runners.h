// The scripts of tools/runners, which this program holds. Internal to this folder.
#pragma once

#include <string>
#include <string_view>

namespace tbem::foreign {

/// "framework.py" takes the steps of a row; "look.py" says what a Python has.
std::string runnerText(std::string_view name);

}  // namespace tbem::foreign
