// Files packed by gzip (RFC 1952).
#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tbem::data {

bool isGzip(std::string_view file);
/// Looks at the first bytes that were unpacked, up to 64 KiB: "" or why the rest is not wanted.
using GzipLook = std::function<std::string(std::string_view beginning)>;

/// What is packed, of all members of the file; its checksums agree. Errors: damaged, cut off, more than `most` bytes, or what
/// `look`, if there is one, says.
tl::expected<std::string, std::string> unpackGzip(std::string_view file, std::size_t most, const GzipLook& look = {});

}  // namespace tbem::data
