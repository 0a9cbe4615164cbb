#include "runtime/data/Npz.h"

#include "runtime/data/File.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;
constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::size_t kEndBytes = 22;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

std::uint64_t get(std::string_view in, std::size_t at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(in[at + static_cast<std::size_t>(i)])) << (8 * i);
  return value;
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

tl::expected<std::string, std::string> inflateRaw(std::string_view in, std::size_t size) {
  std::string out(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return Failure("zlib cannot start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!whole) return Failure("its compressed data are damaged");
  return out;
}

struct Entry {
  std::string name;
  std::uint64_t method = 0, crc = 0, packed = 0, size = 0, offset = 0;
};

tl::expected<std::vector<Entry>, std::string> directory(std::string_view bytes) {
  if (bytes.size() < kEndBytes) return Failure("it is no ZIP archive");
  std::size_t end = bytes.size() - kEndBytes;
  while (get(bytes, end, 4) != kEnd) {
    if (end == 0 || bytes.size() - end > kEndBytes + 0xFFFF) return Failure("it is no ZIP archive, or it is cut off");
    --end;
  }
  const std::uint64_t count = get(bytes, end + 10, 2);
  std::uint64_t at = get(bytes, end + 16, 4);
  std::vector<Entry> entries;
  std::uint64_t packed = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (at + 46 > bytes.size() || get(bytes, at, 4) != kCentral) return Failure("its directory is damaged");
    Entry entry;
    entry.method = get(bytes, at + 10, 2);
    entry.crc = get(bytes, at + 16, 4);
    entry.packed = get(bytes, at + 20, 4);
    entry.size = get(bytes, at + 24, 4);
    const std::uint64_t nameLength = get(bytes, at + 28, 2);
    const std::uint64_t skip = get(bytes, at + 30, 2) + get(bytes, at + 32, 2);
    entry.offset = get(bytes, at + 42, 4);
    if (at + 46 + nameLength > bytes.size()) return Failure("its directory is cut off");
    if (entry.size == 0xFFFFFFFFU || entry.offset == 0xFFFFFFFFU) return Failure("archives above 4 GiB (ZIP64) are not read");
    entry.name = std::string(bytes.substr(at + 46, nameLength));
    // Entries that share bytes would let a small file ask for any amount of memory.
    packed += entry.packed;
    if (packed > bytes.size()) return Failure("its entries overlap");
    entries.push_back(std::move(entry));
    at += 46 + nameLength + skip;
  }
  return entries;
}

tl::expected<std::string, std::string> content(std::string_view bytes, const Entry& entry) {
  if (entry.offset + 30 > bytes.size() || get(bytes, entry.offset, 4) != kLocal) return Failure("a header is damaged");
  const std::uint64_t start = entry.offset + 30 + get(bytes, entry.offset + 26, 2) + get(bytes, entry.offset + 28, 2);
  if (start > bytes.size() || entry.packed > bytes.size() - start) return Failure("its data are cut off");
  const std::string_view packed = bytes.substr(start, entry.packed);
  std::string text;
  if (entry.method == 0) {
    text = std::string(packed);
  } else if (entry.method == 8) {
    // Deflate packs at most 1032 to 1: a larger claim is a damaged or hostile file, not a reason to take that much memory.
    if (entry.size > entry.packed * 1032 + 64) return Failure("its sizes contradict each other");
    auto unpacked = inflateRaw(packed, entry.size);
    if (!unpacked) return unpacked;
    text = std::move(*unpacked);
  } else {
    return Failure(fmt::format("compression method {} is not read (stored and deflated are)", entry.method));
  }
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
  if (crc != entry.crc) return Failure("its checksum does not agree");
  return text;
}

/// As torch.save writes archives.
bool holdsPickle(const std::vector<Entry>& entries) {
  return std::ranges::any_of(entries, [](const Entry& entry) { return entry.name.ends_with("data.pkl"); });
}

}  // namespace

tl::expected<void, std::string> writeNpz(const std::string& path, const std::vector<Array>& arrays) {
  std::vector<std::string> pieces;
  std::string central;
  std::uint64_t offset = 0;
  if (arrays.size() > 0xFFFF) return Failure(fmt::format("{}: more than 65535 arrays do not fit a ZIP archive", path));
  for (const Array& array : arrays) {
    std::string body = toNpy(array);
    const std::string name = array.name + ".npy";
    if (offset + body.size() > 0xFFFFFFF0U) {
      return Failure(fmt::format("{}: more than 4 GiB do not fit this archive format; save a smaller row", path));
    }
    const auto crc =
        static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
    std::string header;
    put(header, kLocal, 4);
    putCommon(header, crc, body.size(), name.size());
    header += name;
    put(central, kCentral, 4);
    put(central, 20, 2);
    putCommon(central, crc, body.size(), name.size());
    put(central, 0, 2 + 2 + 2);  // comment, disk, internal attributes
    put(central, 0, 4);
    put(central, offset, 4);
    central += name;
    offset += header.size() + body.size();
    pieces.push_back(std::move(header));
    pieces.push_back(std::move(body));
  }
  std::string end;
  put(end, kEnd, 4);
  put(end, 0, 4);
  put(end, arrays.size(), 2);
  put(end, arrays.size(), 2);
  put(end, central.size(), 4);
  put(end, offset, 4);
  put(end, 0, 2);
  pieces.push_back(std::move(central));
  pieces.push_back(std::move(end));
  const std::vector<std::string_view> views(pieces.begin(), pieces.end());
  return writeFile(path, views);
}

bool isPickled(std::string_view bytes) {
  if (bytes.starts_with('\x80')) return true;
  if (!bytes.starts_with("PK")) return false;
  if (bytes.substr(0, 256).find("data.pkl") != std::string_view::npos) return true;  // the first, also of archives above 4 GiB
  const auto entries = directory(bytes);
  return entries && holdsPickle(*entries);
}

tl::expected<std::vector<Array>, std::string> parseNpz(std::string_view bytes) {
  const auto entries = directory(bytes);
  if (!entries) return Failure(entries.error());
  if (holdsPickle(*entries)) return Failure(std::string(kPickled));
  std::vector<Array> arrays;
  for (const Entry& entry : *entries) {
    const std::string_view suffix = ".npy";
    if (entry.name.size() <= suffix.size() || entry.name.compare(entry.name.size() - suffix.size(), suffix.size(), suffix) != 0) {
      return Failure(fmt::format("`{}` is no .npy array", entry.name));
    }
    const auto text = content(bytes, entry);
    if (!text) return Failure(fmt::format("`{}`: {}", entry.name, text.error()));
    auto array = parseNpy(*text, entry.name.substr(0, entry.name.size() - suffix.size()));
    if (!array) return Failure(fmt::format("`{}`: {}", entry.name, array.error()));
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

tl::expected<std::vector<Array>, std::string> readNpz(const std::string& path) {
  const auto file = MappedFile::open(path);
  if (!file) return Failure(file.error());
  auto arrays = parseNpz(file->text());
  if (!arrays) return Failure(fmt::format("{}: {}", path, arrays.error()));
  return arrays;
}

}  // namespace tbem::data
