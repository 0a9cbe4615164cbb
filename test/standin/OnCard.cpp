// Linked into a test of the cuda backend, it opens the card that interprets PTX (test/card) before anything runs where the
// machine has no driver, and puts the stand-ins' folder before all that hold cuDNN or cuBLASLt.
#include <cstdlib>

#include <dlfcn.h>

namespace {

const bool kOpened = [] {
  if (::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr) return true;
  ::setenv("CUDA_HOME", TBEM_STANDIN, 1);
  return ::dlopen(TBEM_CARD "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr;
}();

}  // namespace
