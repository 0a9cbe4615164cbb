// Arrays of .mat files (MATLAB's, versions 4 to 7.3), by matio, which is opened when one is read.
#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tbem::data {

/// An array of real numbers from 0 to 255 without a fraction, whatever type the file keeps them in.
struct MatArray {
  std::vector<std::size_t> dims;
  std::vector<std::uint8_t> values;  ///< the first index is the fastest
};

/// The shapes of arrays in a file, which are not read themselves. Errors: the file, a name, or why matio cannot be opened.
tl::expected<std::vector<std::vector<std::size_t>>, std::string> matDims(const std::string& path,
                                                                         const std::vector<std::string>& names);
/// The arrays, in the order of their names. Errors: as above; numbers that are none of those that MatArray has.
tl::expected<std::vector<MatArray>, std::string> readMat(const std::string& path, const std::vector<std::string>& names);

/// Which version of matio reads files on this machine, or why none does.
tl::expected<std::string, std::string> matLibrary();

}  // namespace tbem::data
