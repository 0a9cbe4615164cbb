#include "runtime/data/Idx.h"

#include "runtime/data/Array.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;
constexpr std::size_t kMostDimensions = 8;

/// The bytes of a file in turn, unpacked where it is a gzip file.
class Bytes {
public:
  explicit Bytes(std::string_view file) : file(file), packed(file.starts_with("\x1f\x8b")) {
    if (packed) ready = inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK;
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() {
    if (packed) inflateEnd(&stream);
  }

  /// False: the file ends, or is damaged, before `count` bytes.
  bool read(std::uint8_t* to, std::size_t count) {
    if (!packed) {
      if (count > file.size()) return false;
      std::copy_n(file.data(), count, to);  // of an array without elements `to` is null
      file.remove_prefix(count);
      return true;
    }
    constexpr std::size_t kChunk = std::size_t{1} << 30U;  // zlib counts in 32 bits
    while (ready && count > 0) {
      feed();
      const auto part = static_cast<uInt>(std::min(count, kChunk));
      stream.next_out = to;
      stream.avail_out = part;
      const int status = inflate(&stream, Z_NO_FLUSH);
      const std::size_t made = part - stream.avail_out;
      to += made;
      count -= made;
      ended = status == Z_STREAM_END;
      if (count > 0 && (status != Z_OK || (made == 0 && stream.avail_in == 0 && file.empty()))) return false;
    }
    return ready;
  }
  /// Nothing follows; of a gzip file, its checksum agrees too.
  bool atEnd() {
    if (!packed) return file.empty();
    std::uint8_t more;
    stream.next_out = &more;
    stream.avail_out = 1;
    feed();
    return ended || (inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 1);
  }
  /// No more bytes than these can come: deflate packs at most 1032 to 1.
  std::uint64_t most() const { return packed ? file.size() * std::uint64_t{1032} + 64 : file.size(); }

private:
  void feed() {
    if (stream.avail_in > 0) return;
    const auto part = static_cast<uInt>(std::min<std::size_t>(file.size(), std::size_t{1} << 30U));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
    stream.avail_in = part;
    file.remove_prefix(part);
  }

  std::string_view file;
  bool packed = false, ready = false, ended = false;
  z_stream stream{};
};

tl::expected<std::vector<std::int64_t>, std::string> readShape(Bytes& bytes) {
  std::uint8_t magic[4];
  if (!bytes.read(magic, 4)) return Failure("it is cut off or damaged before byte 4");
  if (magic[0] != 0 || magic[1] != 0) {
    return Failure(
        fmt::format("it is no IDX file: it begins with the bytes {:#04x} {:#04x}, expected 0x00 0x00", magic[0], magic[1]));
  }
  if (magic[2] != 0x08) {
    return Failure(fmt::format("its element type (byte 2) is {:#04x}; 0x08, unsigned bytes, is read", magic[2]));
  }
  if (magic[3] == 0 || magic[3] > kMostDimensions) {
    return Failure(fmt::format("it has {} dimensions (byte 3); 1 to {} are read", magic[3], kMostDimensions));
  }
  std::vector<std::int64_t> shape;
  for (int k = 0; k < magic[3]; ++k) {
    std::uint8_t size[4];
    if (!bytes.read(size, 4)) return Failure(fmt::format("it is cut off or damaged in its header, before byte {}", 8 + 4 * k));
    shape.push_back(static_cast<std::int64_t>(size[0]) << 24U | size[1] << 16U | size[2] << 8U | size[3]);
  }
  return shape;
}

}  // namespace

tl::expected<std::vector<std::int64_t>, std::string> parseIdxShape(std::string_view file) {
  Bytes bytes(file);
  return readShape(bytes);
}

tl::expected<IdxArray, std::string> parseIdx(std::string_view file) {
  Bytes bytes(file);
  const std::uint64_t most = bytes.most();
  auto shape = readShape(bytes);
  if (!shape) return Failure(shape.error());
  const auto elements = checkedElements(*shape, 1);
  if (!elements || *elements > most) {
    return Failure(
        fmt::format("its header asks for {} elements, more than the file's {} bytes can hold: it is cut off or damaged",
                    shapeText(*shape), file.size()));
  }
  IdxArray array{std::move(*shape), std::vector<std::uint8_t>(static_cast<std::size_t>(*elements))};
  if (!bytes.read(array.bytes.data(), array.bytes.size()))
    return Failure(fmt::format("it ends before the {} elements of its header: it is cut off or damaged", shapeText(array.shape)));
  if (!bytes.atEnd()) return Failure(fmt::format("more bytes follow the {} elements of its header", shapeText(array.shape)));
  return array;
}

}  // namespace tbem::data
