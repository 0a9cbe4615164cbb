// Where cuDNN, cuBLASLt, nvJitLink and libcuda may lie on this machine.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tbem::cudnn {

/// Folders that may hold libcudnn.so.9, in the order in which they are looked at: the CUDA toolkit's (CUDA_HOME, CUDA_PATH,
/// /usr/local/cuda), the system's, the `nvidia-cudnn` package of the active Python environment (VIRTUAL_ENV, else that of the
/// first python3 on the PATH). `pythonFirst`: PyTorch uses its own package.
std::vector<std::string> cudnnPlaces(bool pythonFirst);
/// The same of libcublasLt.so; Python's are the packages `nvidia-cublas` of CUDA 13 and 12.
std::vector<std::string> cublasPlaces();
/// The same of libnvJitLink.so; Python's are the packages `nvidia-nvjitlink` of CUDA 13 and 12.
std::vector<std::string> jitLinkPlaces();
/// Files that may be a stub of libcuda: the toolkits'.
std::vector<std::string> libcudaStubs();

/// The file of that name in the folder, or in lib or lib64 below it; "" where there is none.
std::string fileIn(const std::string& folder, const std::string& name);
/// The file, its size and the time of its change: what answers of a library depend on. "": it cannot be looked at.
std::string identityOf(const std::string& path);

/// A library that stays open.
struct OpenedFile {
  void* handle = nullptr;  ///< null: none
  std::string path;
  std::string why;  ///< the first that was there was not taken; "": none was there
};
/// The first of these names, each at all places in turn, that can be opened and has what is needed of it.
OpenedFile openFirst(std::span<const char* const> names, const std::vector<std::string>& places,
                     const std::function<bool(void* handle)>& serves);

}  // namespace tbem::cudnn
