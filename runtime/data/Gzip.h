// Files packed by gzip (RFC 1952).
#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tbem::data {

bool isGzip(std::string_view file);
/// What is packed, of all members of the file; its checksums agree. Errors: damaged, cut off, or more than `most` bytes.
tl::expected<std::string, std::string> unpackGzip(std::string_view file, std::size_t most);

}  // namespace tbem::data
