// Files of datasets made by tests, and what readers say of them.
#pragma once

#include "runtime/data/Dataset.h"
#include "runtime/data/Npz.h"
#include "test/unit/data/Temporary.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tbem::data {

namespace fs = std::filesystem;

/// An empty folder of this test.
inline fs::path folder(const char* name) {
  const fs::path path = test::temporary(name);
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

inline void write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

inline void writeGzip(const fs::path& path, const std::string& bytes) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

inline std::string idx(std::vector<int> shape, const std::string& bytes, char type = 8) {
  std::string file{'\0', '\0', type, static_cast<char>(shape.size())};
  for (const int size : shape) file += {'\0', '\0', static_cast<char>(size >> 8), static_cast<char>(size)};
  return file + bytes;
}

inline Settings imageSettings(std::int64_t size, std::int64_t channels) {
  return {{{"size", size}, {"channels", channels}, {"mean", std::vector<double>{}}, {"std", std::vector<double>{}}}, {}};
}
inline Settings inFolder(const fs::path& path, std::int64_t size, std::int64_t channels) {
  Settings settings = imageSettings(size, channels);
  settings.values["folder"] = path.string();
  settings.values["labels"] = std::string("fine");
  return settings;
}

inline std::string errorOf(const char* reader, const Settings& settings) {
  const auto opened = findReader(reader)->open(settings);
  return opened ? "" : opened.error();
}
#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

struct Read {
  std::vector<float> x;
  std::vector<std::int64_t> labels;
  std::string error;
};
inline Read readSome(const Dataset& data, Split split, const std::vector<std::int64_t>& numbers) {
  Read out;
  out.x.resize(numbers.size() * static_cast<std::size_t>(data.description().inputs.front().elements()));
  std::vector<float> targets(numbers.size() * static_cast<std::size_t>(data.description().target.elements()));
  out.labels.resize(targets.size());
  const auto done = data.read(split, numbers, {{out.x.data()}, out.labels.data(), targets.data()});
  if (!done) out.error = done.error();
  return out;
}

template <class T>
std::string npy(const char* dtype, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  Array array{"", dtype, std::move(shape), std::vector<std::uint8_t>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return toNpy(array);
}

inline Settings npySettings(const fs::path& path, std::vector<std::string> inputs, std::string target, std::int64_t classes) {
  return {{{"inputs", std::move(inputs)},
           {"target", std::move(target)},
           {"test_inputs", std::vector<double>{}},
           {"test_target", std::string()},
           {"classes", classes},
           {"scale", 1.0},
           {"ignore", std::int64_t{-100}}},
          path.string()};
}

}  // namespace tbem::data
