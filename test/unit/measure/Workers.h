// The roles that the test program plays when it is started as a child.
#pragma once

#include <string>
#include <vector>

namespace tbem::measure {

/// Plays the role argv[0]; the exit code.
int playWorker(int argc, char** argv);

/// The command line that starts this program in a role.
std::vector<std::string> as(const std::string& role, const std::vector<std::string>& more = {});

}  // namespace tbem::measure
