#include "runtime/data/Gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>

namespace tbem::data {

bool isGzip(std::string_view file) { return file.starts_with("\x1f\x8b"); }

tl::expected<std::string, std::string> unpackGzip(std::string_view file, std::size_t most, const GzipLook& look) {
  constexpr std::size_t kChunk = std::size_t{1} << 16U;
  constexpr std::size_t kFeed = std::size_t{1} << 30U;  // zlib counts in 32 bits
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return tl::unexpected(std::string("zlib cannot start"));
  std::string text;
  std::array<char, kChunk> chunk;
  std::string problem;
  while (problem.empty()) {
    if (stream.avail_in == 0) {
      const std::size_t part = std::min(file.size(), kFeed);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
      stream.avail_in = static_cast<uInt>(part);
      file.remove_prefix(part);
    }
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = kChunk;
    const int status = inflate(&stream, Z_NO_FLUSH);
    const bool first = text.empty();
    text.append(chunk.data(), kChunk - stream.avail_out);
    if (text.size() > most)
      problem =
          fmt::format("it unpacks to more than {} MiB; unpack it first (gunzip), and it is read from the disk", most >> 20U);
    if (first && look && problem.empty()) problem = look(text);
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0 && file.empty()) break;
      if (inflateReset(&stream) != Z_OK) problem = "zlib cannot go on";
    } else if (status != Z_OK && !(status == Z_BUF_ERROR && stream.avail_out == 0)) {
      problem = stream.avail_in == 0 && file.empty() ? "it is packed by gzip, and cut off" : "it is packed by gzip, and damaged";
    }
  }
  inflateEnd(&stream);
  if (!problem.empty()) return tl::unexpected(std::move(problem));
  return text;
}

}  // namespace tbem::data
