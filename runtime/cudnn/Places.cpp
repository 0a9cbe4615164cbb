#include "runtime/cudnn/Places.h"

#include <fmt/format.h>

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

namespace tbem::cudnn {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> toolkits() {
  std::vector<std::string> list;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') list.emplace_back(value);
  }
  list.emplace_back("/usr/local/cuda");
  return list;
}

/// The environment's folder: that of VIRTUAL_ENV, or the one above the first folder of the PATH with a python3.
fs::path pythonPrefix() {
  if (const char* active = std::getenv("VIRTUAL_ENV"); active != nullptr && *active != '\0') return active;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  std::error_code ignored;
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty() && fs::exists(fs::path(folder) / "python3", ignored)) return fs::path(folder).parent_path();
  }
  return {};
}

/// Folders of the environment's `nvidia` package.
std::vector<std::string> pythonPackages(const char* name) {
  std::vector<std::string> list;
  const fs::path prefix = pythonPrefix();
  if (prefix.empty()) return list;
  std::error_code ignored;
  for (const auto& version : fs::directory_iterator(prefix / "lib", ignored)) {
    if (version.path().filename().string().rfind("python3", 0) != 0) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      const fs::path package = version.path() / packages / "nvidia" / name;
      if (fs::is_directory(package, ignored)) list.push_back(package.string());
    }
  }
  return list;
}

/// Folders of toolkits and of the system's packages.
std::vector<std::string> installed() {
  std::vector<std::string> places = toolkits();
  places.insert(places.end(), {"/usr/lib/x86_64-linux-gnu", "/usr/lib64"});
  return places;
}

/// And of the Python packages of CUDA 13, which are one folder, and that one of CUDA 12.
std::vector<std::string> placesWith(const char* package) {
  std::vector<std::string> places = installed();
  for (const char* name : {"cu13", package}) {
    const std::vector<std::string> packages = pythonPackages(name);
    places.insert(places.end(), packages.begin(), packages.end());
  }
  return places;
}

}  // namespace

std::vector<std::string> cudnnPlaces(bool pythonFirst) {
  std::vector<std::string> places = installed();
  const std::vector<std::string> packages = pythonPackages("cudnn");
  places.insert(pythonFirst ? places.begin() : places.end(), packages.begin(), packages.end());
  return places;
}

std::vector<std::string> cublasPlaces() { return placesWith("cublas"); }
std::vector<std::string> jitLinkPlaces() { return placesWith("nvjitlink"); }

std::vector<std::string> libcudaStubs() {
  std::vector<std::string> list;
  for (const std::string& toolkit : toolkits()) {
    for (const char* below : {"lib64/stubs/libcuda.so", "lib/stubs/libcuda.so"})
      list.push_back((fs::path(toolkit) / below).string());
  }
  return list;
}

std::string fileIn(const std::string& folder, const std::string& name) {
  std::error_code ignored;
  for (const char* below : {"", "lib", "lib64"}) {
    const fs::path path = fs::path(folder) / below / name;
    if (fs::is_regular_file(path, ignored)) return path.string();
  }
  return {};
}

std::string identityOf(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  return error ? std::string() : fmt::format("{} {} {}", path, size, time);
}

OpenedFile openFirst(std::span<const char* const> names, const std::vector<std::string>& places,
                     const std::function<bool(void* handle)>& serves) {
  std::string why;
  for (const char* name : names) {
    for (const std::string& place : places) {
      std::string path = fileIn(place, name);
      if (path.empty()) continue;
      void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      const char* const reason = handle == nullptr ? ::dlerror() : "it lacks a function";
      if (handle != nullptr && serves(handle)) return {handle, std::move(path), {}};
      if (why.empty()) why = fmt::format("{} cannot be loaded: {}", path, reason != nullptr ? reason : "no reason is given");
    }
  }
  return {nullptr, {}, std::move(why)};
}

}  // namespace tbem::cudnn
