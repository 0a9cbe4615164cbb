#include "runtime/data/Zip.h"

#include "runtime/data/File.h"

#include <fmt/format.h>
#include <zlib.h>

#include <limits>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;
constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kWideEnd = 0x06064b50;      // ZIP64's end of the directory
constexpr std::uint32_t kWideLocator = 0x07064b50;  // says where that is
constexpr std::size_t kEndBytes = 22, kWideEndBytes = 56, kLocatorBytes = 20, kCentralBytes = 46, kLocalBytes = 30;
constexpr std::uint64_t kWide = 0xFFFFFFFFU;  // in a field of 32 bits: ZIP64 has the number

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

std::uint64_t get(std::string_view in, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(in[at + static_cast<std::size_t>(i)])) << (8 * i);
  return value;
}

bool holds(std::string_view bytes, std::uint64_t at, std::uint64_t count) {
  return at <= bytes.size() && count <= bytes.size() - at;
}

std::uint32_t checksum(std::string_view text) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
}

/// The part of a header that the local and the central one share: version to the lengths of name and extra field.
void putCommon(std::string& out, std::uint32_t crc, std::uint64_t size, std::size_t nameLength) {
  put(out, 20, 2);      // version needed
  put(out, 0x0800, 2);  // names are UTF-8
  put(out, 0, 2);       // stored
  put(out, 0, 2);       // time: none, so that equal contents are equal files
  put(out, 0x0021, 2);  // date: 1980-01-01, the earliest
  put(out, crc, 4);
  put(out, size, 4);
  put(out, size, 4);
  put(out, nameLength, 2);
  put(out, 0, 2);
}

tl::expected<void, std::string> inflateRaw(std::string_view in, std::string& out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return Failure("zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.total_out == out.size();
  inflateEnd(&stream);
  if (!whole) return Failure("its compressed data are damaged");
  return {};
}

struct Directory {
  std::uint64_t count = 0, at = 0;
};

tl::expected<Directory, std::string> directoryAt(std::string_view bytes) {
  if (bytes.size() < kEndBytes) return Failure("it is no ZIP archive");
  std::size_t end = bytes.size() - kEndBytes;
  while (get(bytes, end, 4) != kEnd) {
    if (end == 0 || bytes.size() - end > kEndBytes + 0xFFFF) return Failure("it is no ZIP archive, or it is cut off");
    --end;
  }
  const Directory plain = {get(bytes, end + 10, 2), get(bytes, end + 16, 4)};
  if (end < kLocatorBytes || get(bytes, end - kLocatorBytes, 4) != kWideLocator) return plain;
  const std::uint64_t wide = get(bytes, end - kLocatorBytes + 8, 8);
  if (!holds(bytes, wide, kWideEndBytes) || get(bytes, wide, 4) != kWideEnd) return Failure("its directory is damaged");
  return Directory{get(bytes, wide + 32, 8), get(bytes, wide + 48, 8)};
}

/// Takes the numbers that do not fit 32 bits from ZIP64's extra field: those that are needed, in this order.
bool readWide(std::string_view extra, ZipEntry& entry) {
  for (std::size_t at = 0; holds(extra, at, 4);) {
    const std::uint64_t kind = get(extra, at, 2), length = get(extra, at + 2, 2);
    at += 4;
    if (!holds(extra, at, length)) return false;
    if (kind == 1) {
      std::size_t field = at;
      for (std::uint64_t* const number : {&entry.size, &entry.packed, &entry.offset}) {
        if (*number != kWide) continue;
        if (field + 8 > at + length) return false;
        *number = get(extra, field, 8);
        field += 8;
      }
      return true;
    }
    at += length;
  }
  return false;
}

}  // namespace

tl::expected<std::vector<ZipEntry>, std::string> zipDirectory(std::string_view archive) {
  const auto directory = directoryAt(archive);
  if (!directory) return Failure(directory.error());
  std::uint64_t at = directory->at, packed = 0;
  std::vector<ZipEntry> entries;
  for (std::uint64_t i = 0; i < directory->count; ++i) {
    if (!holds(archive, at, kCentralBytes) || get(archive, at, 4) != kCentral) return Failure("its directory is damaged");
    ZipEntry entry;
    entry.method = get(archive, at + 10, 2);
    entry.crc = get(archive, at + 16, 4);
    entry.packed = get(archive, at + 20, 4);
    entry.size = get(archive, at + 24, 4);
    const std::uint64_t nameLength = get(archive, at + 28, 2), extraLength = get(archive, at + 30, 2);
    const std::uint64_t commentLength = get(archive, at + 32, 2);
    entry.offset = get(archive, at + 42, 4);
    at += kCentralBytes;
    if (!holds(archive, at, nameLength + extraLength + commentLength)) return Failure("its directory is cut off");
    entry.name = std::string(archive.substr(at, nameLength));
    const bool isWide = entry.size == kWide || entry.packed == kWide || entry.offset == kWide;
    if (isWide && !readWide(archive.substr(at + nameLength, extraLength), entry))
      return Failure("its directory is damaged: the sizes of an entry above 4 GiB are not in it");
    // Entries that share bytes would let a small file ask for any amount of memory.
    if (entry.packed > archive.size() - packed) return Failure("its entries overlap");
    packed += entry.packed;
    entries.push_back(std::move(entry));
    at += nameLength + extraLength + commentLength;
  }
  return entries;
}

tl::expected<std::string_view, std::string> zipContent(std::string_view archive, const ZipEntry& entry, std::string& unpacked) {
  if (!holds(archive, entry.offset, kLocalBytes) || get(archive, entry.offset, 4) != kLocal)
    return Failure("a header is damaged");
  const std::uint64_t start =
      entry.offset + kLocalBytes + get(archive, entry.offset + 26, 2) + get(archive, entry.offset + 28, 2);
  if (!holds(archive, start, entry.packed)) return Failure("its data are cut off");
  std::string_view text = archive.substr(start, entry.packed);
  if (entry.method == 8) {
    // Deflate packs at most 1032 to 1: a larger claim is a damaged or hostile file, not a reason to take that much memory.
    if (entry.size / 1032 > entry.packed + 1) return Failure("its sizes contradict each other");
    if (std::max(entry.size, entry.packed) > std::numeric_limits<uInt>::max())
      return Failure("a compressed entry above 4 GiB is not read: store it");
    unpacked.assign(entry.size, '\0');
    if (const auto done = inflateRaw(text, unpacked); !done) return Failure(done.error());
    text = unpacked;
  } else if (entry.method != 0) {
    return Failure(fmt::format("compression method {} is not read (stored and deflated are)", entry.method));
  }
  if (checksum(text) != entry.crc) return Failure("its checksum does not agree");
  return text;
}

tl::expected<void, std::string> writeZip(const std::string& path, std::vector<ZipMember> members) {
  std::vector<std::string> pieces;
  std::string central;
  std::uint64_t offset = 0;
  if (members.size() > 0xFFFF) return Failure(fmt::format("{}: more than 65535 arrays do not fit a ZIP archive", path));
  for (ZipMember& member : members) {
    if (offset + member.body.size() > 0xFFFFFFF0U) {
      return Failure(fmt::format("{}: more than 4 GiB do not fit this archive format; save a smaller row", path));
    }
    const std::uint32_t crc = checksum(member.body);
    std::string header;
    put(header, kLocal, 4);
    putCommon(header, crc, member.body.size(), member.name.size());
    header += member.name;
    put(central, kCentral, 4);
    put(central, 20, 2);
    putCommon(central, crc, member.body.size(), member.name.size());
    put(central, 0, 2 + 2 + 2);  // comment, disk, internal attributes
    put(central, 0, 4);
    put(central, offset, 4);
    central += member.name;
    offset += header.size() + member.body.size();
    pieces.push_back(std::move(header));
    pieces.push_back(std::move(member.body));
  }
  std::string end;
  put(end, kEnd, 4);
  put(end, 0, 4);
  put(end, members.size(), 2);
  put(end, members.size(), 2);
  put(end, central.size(), 4);
  put(end, offset, 4);
  put(end, 0, 2);
  pieces.push_back(std::move(central));
  pieces.push_back(std::move(end));
  const std::vector<std::string_view> views(pieces.begin(), pieces.end());
  return writeFile(path, views);
}

}  // namespace tbem::data
