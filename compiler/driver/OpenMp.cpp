#include "compiler/driver/OpenMp.h"

#include <unistd.h>

#include <cstdlib>

namespace tbem::driver {

void limitSpinning(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  if (::setenv("GOMP_SPINCOUNT", "10000", 0) != 0) return;
  ::execv("/proc/self/exe", argv);  // where it fails, the program goes on as it is: slower beside others, no less right
}

}  // namespace tbem::driver
