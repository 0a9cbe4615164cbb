#include "compiler/support/Version.h"

namespace tbem::driver {

std::string versionText() { return std::string("tbemc ") + kVersion; }

}  // namespace tbem::driver
