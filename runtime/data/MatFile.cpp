#include "runtime/data/MatFile.h"

#include "runtime/core/Symbol.h"
#include "runtime/data/File.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <matio.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;
constexpr const char* kLibrary = "libmatio.so.11";

/// Its functions. It is linked with HDF5, which takes longer to load than most commands run: so it is opened here.
struct Matio {
  decltype(&::Mat_Open) open = nullptr;
  decltype(&::Mat_Close) close = nullptr;
  decltype(&::Mat_VarReadInfo) readInfo = nullptr;
  decltype(&::Mat_VarRead) read = nullptr;
  decltype(&::Mat_VarFree) free = nullptr;
  std::string version;
};

tl::expected<Matio, std::string> openMatio() {
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return Failure(fmt::format("{} (Debian's package libmatio11 has it)", ::dlerror()));
  const auto find = [library](const char* name, auto& function) { return runtime::findSymbol(library, name, function); };
  Matio matio;
  decltype(&::Mat_GetLibraryVersion) version = nullptr;
  decltype(&::Mat_LogInitFunc) log = nullptr;
  const bool whole = find("Mat_Open", matio.open) && find("Mat_Close", matio.close) && find("Mat_VarReadInfo", matio.readInfo) &&
                     find("Mat_VarRead", matio.read) && find("Mat_VarFree", matio.free) &&
                     find("Mat_GetLibraryVersion", version) && find("Mat_LogInitFunc", log);
  if (!whole) return Failure(fmt::format("{} lacks a function of matio 1.5", kLibrary));
  int parts[3] = {};
  version(&parts[0], &parts[1], &parts[2]);
  matio.version = fmt::format("{}", fmt::join(parts, "."));
  log("tbemc", [](int, char*) {});  // it would end the process at what it calls an error
  return matio;
}

const tl::expected<Matio, std::string>& matio() {
  static const tl::expected<Matio, std::string> opened = openMatio();
  return opened;
}

std::uint32_t wordAt(std::span<const std::uint8_t> bytes, std::size_t at, bool swapped) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return swapped ? __builtin_bswap32(word) : word;
}

/// Whether zlib finds the bytes in order, with their checksum.
bool isStream(std::span<const std::uint8_t> bytes) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return false;
  std::vector<std::uint8_t> part(std::size_t{1} << 18U);
  stream.next_in = const_cast<std::uint8_t*>(bytes.data());  // zlib's own interface; it only reads
  stream.avail_in = static_cast<uInt>(bytes.size());
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = part.data();
    stream.avail_out = static_cast<uInt>(part.size());
    state = inflate(&stream, Z_NO_FLUSH);
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END;
}

/// Whether the parts of a file of level 5 do not end where it does ("MAT-File Format", MathWorks, chapter 1) or, where all is to
/// be read, a compressed one is damaged: matio gives what there is of it, and zeros for the rest. In files of other levels it
/// finds that itself.
tl::expected<bool, std::string> isDamaged(const std::string& path, bool whole) {
  constexpr std::size_t kHeader = 128, kVersion = 124, kTag = 8;
  constexpr std::uint32_t kCompressed = 15;
  const auto file = MappedFile::open(path);
  if (!file) return Failure(file.error());
  const std::span<const std::uint8_t> bytes = file->bytes();
  if (bytes.size() < kHeader) return false;  // no file of this level
  const bool swapped = bytes[kVersion + 2] == 'M' && bytes[kVersion + 3] == 'I';
  const bool isOfLevel = wordAt(bytes, kVersion, false) == (swapped ? 0x494D0001U : 0x4D490100U);
  if (!isOfLevel) return false;
  std::size_t at = kHeader;
  while (bytes.size() - at >= kTag) {
    const std::size_t length = wordAt(bytes, at + 4, swapped);
    if (length > bytes.size() - at - kTag) return true;
    const bool isCompressed = wordAt(bytes, at, swapped) == kCompressed;
    if (whole && isCompressed && !isStream(bytes.subspan(at + kTag, length))) return true;
    at += kTag + length;
  }
  return at != bytes.size();
}

using Variable = std::unique_ptr<matvar_t, decltype(&::Mat_VarFree)>;

/// With their numbers, or without.
tl::expected<std::vector<Variable>, std::string> readVariables(const std::string& path, const std::vector<std::string>& names,
                                                               bool whole) {
  const auto& library = matio();
  if (!library) return Failure(library.error());
  const auto damaged = isDamaged(path, whole);
  if (!damaged) return Failure(damaged.error());
  if (*damaged) return Failure(fmt::format("{}: it is cut off, or damaged", path));
  const std::unique_ptr<mat_t, decltype(&::Mat_Close)> file(library->open(path.c_str(), MAT_ACC_RDONLY), library->close);
  if (file == nullptr) return Failure(fmt::format("{}: it is no .mat file", path));
  std::vector<Variable> variables;
  for (const std::string& name : names) {
    matvar_t* const read = whole ? library->read(file.get(), name.c_str()) : library->readInfo(file.get(), name.c_str());
    if (read == nullptr) return Failure(fmt::format("{}: there is no array `{}` in it, or it is damaged", path, name));
    variables.emplace_back(read, library->free);
  }
  return variables;
}

std::vector<std::size_t> dimsOf(const matvar_t& variable) {
  return variable.dims == nullptr ? std::vector<std::size_t>()
                                  : std::vector<std::size_t>(variable.dims, variable.dims + variable.rank);
}

/// Takes numbers of one type. False: one of them is no whole number from 0 to 255.
template <class T>
bool take(const matvar_t& variable, std::vector<std::uint8_t>& values) {
  const auto* const numbers = static_cast<const T*>(variable.data);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number = static_cast<double>(numbers[i]);
    if (!(number >= 0 && number <= 255) || number != std::floor(number)) return false;
    values[i] = static_cast<std::uint8_t>(number);
  }
  return true;
}

bool takeAny(const matvar_t& variable, std::vector<std::uint8_t>& values) {
  switch (variable.class_type) {
    case MAT_C_INT8:
      return take<std::int8_t>(variable, values);
    case MAT_C_UINT8:
      return take<std::uint8_t>(variable, values);
    case MAT_C_INT16:
      return take<std::int16_t>(variable, values);
    case MAT_C_UINT16:
      return take<std::uint16_t>(variable, values);
    case MAT_C_INT32:
      return take<std::int32_t>(variable, values);
    case MAT_C_UINT32:
      return take<std::uint32_t>(variable, values);
    case MAT_C_INT64:
      return take<std::int64_t>(variable, values);
    case MAT_C_UINT64:
      return take<std::uint64_t>(variable, values);
    case MAT_C_SINGLE:
      return take<float>(variable, values);
    case MAT_C_DOUBLE:
      return take<double>(variable, values);
    default:
      return false;
  }
}

tl::expected<MatArray, std::string> arrayOf(const std::string& path, const matvar_t& read) {
  MatArray array{dimsOf(read), {}};
  const std::size_t count = std::accumulate(array.dims.begin(), array.dims.end(), std::size_t{1}, std::multiplies<>());
  // A damaged file may have less than it says, or nothing at all.
  const bool isWhole =
      read.data != nullptr && read.data_size > 0 && read.nbytes / static_cast<std::size_t>(read.data_size) >= count;
  if (!isWhole) return Failure(fmt::format("{}: the numbers of `{}` cannot be read: it is cut off or damaged", path, read.name));
  array.values.resize(count);
  if (read.isComplex != 0 || !takeAny(read, array.values))
    return Failure(fmt::format("{}: `{}` has something else than whole numbers from 0 to 255", path, read.name));
  return array;
}

}  // namespace

tl::expected<std::vector<std::vector<std::size_t>>, std::string> matDims(const std::string& path,
                                                                         const std::vector<std::string>& names) {
  const auto variables = readVariables(path, names, false);
  if (!variables) return Failure(variables.error());
  std::vector<std::vector<std::size_t>> dims;
  for (const Variable& variable : *variables) dims.push_back(dimsOf(*variable));
  return dims;
}

tl::expected<std::vector<MatArray>, std::string> readMat(const std::string& path, const std::vector<std::string>& names) {
  const auto variables = readVariables(path, names, true);
  if (!variables) return Failure(variables.error());
  std::vector<MatArray> arrays;
  for (const Variable& variable : *variables) {
    auto array = arrayOf(path, *variable);
    if (!array) return Failure(array.error());
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

tl::expected<std::string, std::string> matLibrary() {
  const auto& library = matio();
  return library ? tl::expected<std::string, std::string>(library->version) : Failure(library.error());
}

}  // namespace tbem::data
