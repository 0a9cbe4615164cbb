#include "compiler/support/Version.h"

namespace tbem {

std::string versionText() { return std::string("tbemc ") + kVersion; }

}  // namespace tbem
