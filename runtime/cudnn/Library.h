// cuDNN, opened at run time by path. Nothing is linked: where there is none, `open` says what was looked for.
//
// cuDNN finds its own parts by name, so one process opens one cuDNN. Engines that are compiled at run time answer only where a
// libcuda can be opened; the CUDA toolkit's stub is enough for the questions that are asked here.
#pragma once

#include "runtime/cudnn/Api.h"

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace tbem::cudnn {

/// Which libcuda cuDNN will find in this process.
enum class Libcuda : std::uint8_t { Real, Stub, None };
struct LibcudaFound {
  Libcuda kind = Libcuda::None;
  std::string path;  ///< of the stub
};
/// "the driver's", "the toolkit's stub (/usr/local/cuda/lib64/stubs/libcuda.so)", "none, so engines compiled at run time are
/// missing".
std::string describe(const LibcudaFound& found);
/// Opens the driver's, else the first of `stubs` (files) that can be opened. It stays open until the process ends.
LibcudaFound openLibcuda(const std::vector<std::string>& stubs);

struct Library {
  std::string path;     ///< of libcudnn.so.9
  std::string version;  ///< "9.19.0"
  api::Functions functions;
};

/// Where libcudnn.so.9 lies: `given` (a folder that holds it, or holds lib/ or lib64/ with it, or the file itself) and nothing
/// else if it is not ""; else the folders of `places` in turn. Errors: what was looked for.
tl::expected<std::string, std::string> findLibrary(const std::string& given, const std::vector<std::string>& places);

/// Opens that file, which stays open until the process ends. A libcuda is opened before: engines that are compiled at run time
/// are missing otherwise, and heuristics choose without them. Errors, in words: it cannot be loaded, it is older than 9.8,
/// another one is open already.
tl::expected<Library, std::string> openLibrary(const std::string& path);

}  // namespace tbem::cudnn
