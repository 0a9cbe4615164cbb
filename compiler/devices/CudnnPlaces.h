// Where cuDNN and libcuda may lie on this machine.
#pragma once

#include <string>
#include <vector>

namespace tbem::driver {

/// Folders that may hold libcudnn.so.9, in the order in which they are looked at: the CUDA toolkit's (CUDA_HOME, CUDA_PATH,
/// /usr/local/cuda), the system's, the `nvidia-cudnn` package of the active Python environment (VIRTUAL_ENV, else that of the
/// first python3 on the PATH). `pythonFirst`: PyTorch uses its own package.
std::vector<std::string> cudnnPlaces(bool pythonFirst);
/// Files that may be a stub of libcuda: the toolkits'.
std::vector<std::string> libcudaStubs();

}  // namespace tbem::driver
