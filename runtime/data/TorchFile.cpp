#include "runtime/data/TorchFile.h"

#include "runtime/data/Pickle.h"
#include "runtime/data/Zip.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;
using Kind = PickleValues::Kind;
using Value = PickleValues::Value;

constexpr std::size_t kMostDepth = 64, kMostDimensions = 64;
constexpr std::size_t kMostVisits = std::size_t{1} << 22;     // of dictionaries that come up again and again
constexpr std::size_t kMostNameBytes = std::size_t{1} << 26;  // of all arrays together

/// Stops the reading; parseTorchFile turns it into its error.
struct Refused {
  std::string why;
};
[[noreturn]] void fail(std::string why) { throw Refused{std::move(why)}; }

constexpr std::size_t kMostPickle = std::size_t{1} << 26;  // bytes; the numbers of tensors are not in it

template <class Result>
Result ofOrFail(tl::expected<Result, std::string> result, std::string_view what) {
  if (!result) fail(fmt::format("{}{}", what, result.error()));
  return std::move(*result);
}

/// "f4" of "FloatStorage" and of "float32"; "" of others.
std::string_view elementTypeNamed(std::string_view torch) {
  constexpr std::array<std::array<std::string_view, 3>, 15> kTypes = {{{"FloatStorage", "float32", "f4"},
                                                                       {"DoubleStorage", "float64", "f8"},
                                                                       {"HalfStorage", "float16", "f2"},
                                                                       {"BFloat16Storage", "bfloat16", "bf16"},
                                                                       {"LongStorage", "int64", "i8"},
                                                                       {"IntStorage", "int32", "i4"},
                                                                       {"ShortStorage", "int16", "i2"},
                                                                       {"CharStorage", "int8", "i1"},
                                                                       {"ByteStorage", "uint8", "u1"},
                                                                       {"BoolStorage", "bool", "b1"},
                                                                       {"", "uint16", "u2"},
                                                                       {"", "uint32", "u4"},
                                                                       {"", "uint64", "u8"},
                                                                       {"", "float8_e4m3fn", "f8e4m3"},
                                                                       {"", "float8_e5m2", "f8e5m2"}}};
  for (const auto& [storage, type, ours] : kTypes) {
    if (torch == storage || torch == type) return ours;
  }
  return {};
}

/// The bytes of a storage by its key.
using StorageBytes = std::function<std::string_view(std::string_view key)>;

/// What tensors and state dicts are made by.
PickleName nameOfStateDict(std::string_view module, std::string_view name) {
  if (module == "collections" && name == "OrderedDict") return PickleName::Dictionary;
  constexpr std::array<std::string_view, 4> kTensors = {"_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3",
                                                        "_rebuild_parameter"};
  const bool isTensor = module == "torch._utils" && std::ranges::find(kTensors, name) != kTensors.end();
  constexpr std::array<std::string_view, 6> kTypes = {"float", "bfloat", "int", "uint", "bool", "complex"};
  const bool isType = std::ranges::any_of(kTypes, [&](std::string_view type) { return name.starts_with(type); });
  const bool isTorch = module == "torch" && (isType || name == "Size" || name.ends_with("Storage"));
  const bool isStorage = module == "torch.storage" && name == "UntypedStorage";
  return isTensor || isTorch || isStorage ? PickleName::Noted : PickleName::Refused;
}

/// Tensors of a pickle, with the bytes of storages by their keys.
class TensorReader {
public:
  TensorReader(const PickleValues& values, StorageBytes storageBytes, std::size_t fileSize, TorchFile& result)
      : values(values), storageBytes(std::move(storageBytes)), mostCopied(4 * fileSize + 4096), result(result) {}

  void read() {
    Value from = values.root();
    if (values.kind(from) == Kind::Call) fail("it is one tensor without a name: save a dictionary, {\"weight\": tensor}");
    if (values.kind(from) != Kind::Dictionary) fail("it holds no dictionary of tensors, as `model.state_dict()` is");
    if (const std::optional<std::size_t> weights = weightsIn(from)) {
      const std::span<const Value> items = values.items(from);
      std::vector<std::string> others;
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
        if (i != *weights) others.push_back(keyText(items[i]).value_or("a key that is no text"));
      }
      result.metadata["read from"] = keyText(items[*weights]).value_or("");
      if (!others.empty()) result.metadata["not read"] = fmt::format("{}", fmt::join(others, ", "));
      from = items[*weights + 1];
    }
    collect(from, "", 0);
    if (result.arrays.empty()) fail("it holds no tensor");
  }

private:
  /// Python 2 wrote texts as bytes.
  std::optional<std::string> keyText(Value key) const {
    const Kind kind = values.kind(key);
    if (kind == Kind::Text || kind == Kind::Bytes) return std::string(values.text(key));
    if (kind == Kind::Integer) return std::to_string(values.integer(key));
    return std::nullopt;
  }
  bool holdsCalls(Value value) const {
    const auto isCall = [&](Value item) { return values.kind(item) == Kind::Call; };
    return values.kind(value) == Kind::Dictionary && std::ranges::any_of(values.items(value), isCall);
  }

  /// The place of the key under which a training keeps the weights beside its other state.
  std::optional<std::size_t> weightsIn(Value outermost) const {
    const std::span<const Value> items = values.items(outermost);
    for (const std::string_view name : {"state_dict", "model_state_dict", "model_state", "model"}) {
      for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
        if (keyText(items[i]) == name && holdsCalls(items[i + 1])) return i;
      }
    }
    return std::nullopt;
  }

  void collect(Value value, const std::string& path, std::size_t depth) {
    if (depth > kMostDepth) fail(fmt::format("dictionaries lie more than {} deep in each other at `{}`", kMostDepth, path));
    if (++visits > kMostVisits) fail(fmt::format("it has more than {} entries", kMostVisits));
    const Kind kind = values.kind(value);
    if (kind == Kind::Call) addTensor(value, path);
    if (kind != Kind::Dictionary && kind != Kind::List) return;
    const std::span<const Value> items = values.items(value);
    const std::size_t step = kind == Kind::Dictionary ? 2 : 1;
    for (std::size_t i = 0; i + step <= items.size(); i += step) {
      const std::optional<std::string> key = step == 2 ? keyText(items[i]) : std::to_string(i);
      if (!key) continue;  // of no weight: keys of these are names
      const std::string inside = path.empty() ? *key : path + "." + *key;
      if ((nameBytes += inside.size()) > kMostNameBytes) fail("its names are longer than 64 MiB together");
      collect(items[i + step - 1], inside, depth + 1);
    }
  }

  std::string_view calleeOf(Value call) const { return values.text(values.items(values.items(call)[0])[1]); }
  Value argument(Value call, std::size_t at, const std::string& path) const {
    const std::span<const Value> arguments = values.items(values.items(call)[1]);
    if (at >= arguments.size()) fail(fmt::format("`{}`: `{}` lacks arguments", path, calleeOf(call)));
    return arguments[at];
  }

  std::vector<std::int64_t> numbers(Value value, const std::string& path) const {
    // Sizes are a tuple, or torch.Size of one.
    if (values.kind(value) == Kind::Call && calleeOf(value) == "Size") value = argument(value, 0, path);
    if (values.kind(value) != Kind::List) fail(fmt::format("`{}`: its sizes are no tuple", path));
    const std::span<const Value> items = values.items(value);
    if (items.size() > kMostDimensions) fail(fmt::format("`{}` has more than 64 dimensions", path));
    std::vector<std::int64_t> sizes;
    for (const Value size : items) {
      if (values.kind(size) != Kind::Integer || values.integer(size) < 0 || values.integer(size) > (std::int64_t{1} << 62))
        fail(fmt::format("`{}`: a size is no whole number from 0 to 2^62", path));
      sizes.push_back(values.integer(size));
    }
    return sizes;
  }

  void addTensor(Value call, const std::string& path) {
    for (std::size_t k = 0; k < 2 && calleeOf(call) == "_rebuild_parameter"; ++k) {
      call = argument(call, 0, path);
      if (values.kind(call) != Kind::Call) fail(fmt::format("`{}` is a parameter of no tensor", path));
    }
    const std::string_view callee = calleeOf(call);
    if (callee == "Size") return;  // numbers of a training's own state
    if (!callee.starts_with("_rebuild_tensor")) fail(fmt::format("`{}` is made by `{}`, which makes no tensor", path, callee));
    std::string_view type;
    const std::string_view bytes = storage(argument(call, 0, path), path, type);
    if (callee == "_rebuild_tensor_v3") type = typeOf(argument(call, 6, path), path);
    const Value offset = argument(call, 1, path);
    if (values.kind(offset) != Kind::Integer || values.integer(offset) < 0)
      fail(fmt::format("`{}` begins at no place of its storage", path));
    place(path, type, bytes, static_cast<std::uint64_t>(values.integer(offset)), numbers(argument(call, 2, path), path),
          numbers(argument(call, 3, path), path));
  }

  std::string_view typeOf(Value name, const std::string& path) const {
    if (values.kind(name) != Kind::Name) fail(fmt::format("`{}`: its element type is no name", path));
    const std::string_view word = values.text(values.items(name)[1]);
    const std::string_view type = elementTypeNamed(word);
    if (type.empty()) fail(fmt::format("`{}`: the element type `torch.{}` is not read", path, word));
    return type;
  }

  /// ("storage", type, key, location, number of elements, and before PyTorch 1.6 the part of another storage that it is).
  std::string_view storage(Value value, const std::string& path, std::string_view& type) const {
    const bool hasKey = values.kind(value) == Kind::External && values.kind(values.items(value)[0]) == Kind::List;
    const std::span<const Value> fields = hasKey ? values.items(values.items(value)[0]) : std::span<const Value>();
    if (fields.size() < 5 || values.kind(fields[1]) != Kind::Name || values.kind(fields[4]) != Kind::Integer ||
        !keyText(fields[2]))
      fail(fmt::format("`{}`: its storage is not described as torch.save does", path));
    if (fields.size() > 5 && values.kind(fields[5]) != Kind::None)
      fail(fmt::format("`{}`: its storage is a part of another, as PyTorch 0.1 wrote them: load and save it in a newer one",
                       path));
    type = values.text(values.items(fields[1])[1]) == "UntypedStorage" ? "u1" : typeOf(fields[1], path);
    const std::string key = *keyText(fields[2]);
    const std::string_view bytes = storageBytes(key);
    const std::int64_t count = values.integer(fields[4]);
    if (count < 0 || bytes.size() % elementBytes(type) != 0 ||
        static_cast<std::uint64_t>(count) != bytes.size() / elementBytes(type))
      fail(fmt::format("`{}`: its storage `{}` has {} bytes, which {} elements of {} do not take", path, key, bytes.size(), count,
                       findElementType(type)->safetensors));
    return bytes;
  }

  void place(const std::string& path, std::string_view type, std::string_view storage, std::uint64_t offset,
             std::vector<std::int64_t> shape, const std::vector<std::int64_t>& strides) {
    const std::size_t width = elementBytes(type);
    const auto count = checkedElements(shape, width);
    if (!count || strides.size() != shape.size())
      fail(fmt::format("`{}` has the shape {} with {} strides", path, shapeText(shape), strides.size()));
    // The last element in the storage has to be there: then all are.
    const std::uint64_t held = storage.size() / width;
    std::uint64_t last = offset;
    bool isRowMajor = true;
    std::uint64_t run = 1;
    for (std::size_t axis = shape.size(); axis-- > 0 && *count > 0;) {
      const auto size = static_cast<std::uint64_t>(shape[axis]), stride = static_cast<std::uint64_t>(strides[axis]);
      if (size > 1 && stride > 0 && (size - 1 > held / stride)) last = held;
      if (size > 1 && last < held) last += (size - 1) * stride;
      isRowMajor = isRowMajor && (size == 1 || stride == run);
      run *= size;
    }
    if (*count > 0 && last >= held)
      fail(fmt::format("`{}` {} with strides {} from {} lies beyond its storage of {} elements", path, shapeText(shape),
                       shapeText(strides), offset, held));
    std::string_view bytes = *count == 0 ? std::string_view() : storage.substr(offset * width);
    if (*count > 0) bytes = isRowMajor ? bytes.substr(0, *count * width) : copied(path, bytes, width, shape, strides);
    result.arrays.emplace_back(path, std::string(type), std::move(shape),
                               std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  }

  std::string_view copied(const std::string& path, std::string_view from, std::size_t width,
                          const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
    const std::uint64_t count = *checkedElements(shape, width);
    if (count * width > mostCopied - copiedBytes)
      fail(
          fmt::format("`{}` is a view of {} elements whose copy would make copies larger than four times the file: save "
                      "`tensor.contiguous()`, or leave out what is expanded",
                      path, count));
    copiedBytes += count * width;
    std::string& to = result.unpacked.emplace_back(count * width, '\0');
    std::vector<std::int64_t> at(shape.size(), 0);
    std::uint64_t source = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::memcpy(to.data() + i * width, from.data() + source * width, width);
      for (std::size_t axis = shape.size(); axis-- > 0;) {
        source += static_cast<std::uint64_t>(strides[axis]);
        if (++at[axis] < shape[axis]) break;
        source -= static_cast<std::uint64_t>(strides[axis]) * static_cast<std::uint64_t>(shape[axis]);
        at[axis] = 0;
      }
    }
    return to;
  }

  const PickleValues& values;
  StorageBytes storageBytes;
  std::uint64_t mostCopied, copiedBytes = 0;
  std::size_t visits = 0, nameBytes = 0;
  TorchFile& result;
};

PickleValues pickleOrFail(std::string_view bytes, std::string_view what, std::size_t from = 0) {
  auto values = readPickle(bytes.substr(0, kMostPickle), nameOfStateDict);
  if (!values) {
    const PickleFault& fault = values.error();
    if (bytes.size() > kMostPickle && fault.offset >= kMostPickle)
      fail(fmt::format("its {} has more than {} bytes without the numbers of its tensors, which is the most that is read", what,
                       kMostPickle));
    fail(fmt::format("its {} cannot be read, at byte {}: {}: {}", what, from + fault.offset, fault.cause, fault.wayOut));
  }
  return std::move(*values);
}

/// Bytes of the elements of storages, by their keys; 0 of a type that is not read.
std::map<std::string, std::size_t, std::less<>> storageWidths(const PickleValues& values) {
  std::map<std::string, std::size_t, std::less<>> widths;
  for (Value value = 0; value < values.count(); ++value) {
    if (values.kind(value) != Kind::External || values.kind(values.items(value)[0]) != Kind::List) continue;
    const std::span<const Value> fields = values.items(values.items(value)[0]);
    if (fields.size() < 3 || values.kind(fields[1]) != Kind::Name || values.kind(fields[2]) != Kind::Text) continue;
    const std::string_view type = elementTypeNamed(values.text(values.items(fields[1])[1]));
    widths[std::string(values.text(fields[2]))] = type.empty() ? 0 : elementBytes(type);
  }
  return widths;
}

void readArchive(std::string_view file, TorchFile& result) {
  const std::vector<ZipEntry> entries = ofOrFail(zipDirectory(file), "");
  std::map<std::string_view, const ZipEntry*> byName;
  std::string_view folder;
  for (const ZipEntry& entry : entries) {
    byName.emplace(entry.name, &entry);
    const std::string_view ending = "data.pkl", name = entry.name;
    if (folder.empty() && name.ends_with("/data.pkl")) folder = name.substr(0, name.size() - ending.size());
  }
  if (folder.empty()) fail("no `data.pkl` is in it: it is no archive of torch.save");
  const auto content = [&](const std::string& name) {
    const auto entry = byName.find(name);
    if (entry == byName.end()) fail(fmt::format("`{}` is not in it", name));
    std::string unpacked;
    const std::string_view text = ofOrFail(zipContent(file, *entry->second, unpacked), fmt::format("`{}`: ", name));
    return unpacked.empty() ? text : std::string_view(result.unpacked.emplace_back(std::move(unpacked)));
  };
  const std::string base(folder);
  if (byName.contains(base + "constants.pkl")) {
    fail(
        "it is a TorchScript program, which is code: write its weights by "
        "`torch.save(torch.jit.load(\"model.pt\").state_dict(), \"weights.pth\")`");
  }
  if (byName.contains(base + "byteorder") && content(base + "byteorder") != "little")
    fail("its numbers are big-endian: load and save it on a little-endian machine");
  const PickleValues values = pickleOrFail(content(base + "data.pkl"), "pickle");
  std::map<std::string, std::string_view, std::less<>> known;
  const auto storage = [&](std::string_view key) {
    const auto at = known.find(key);
    return at != known.end() ? at->second : known.emplace(key, content(base + "data/" + std::string(key))).first->second;
  };
  TensorReader(values, storage, file.size(), result).read();
}

/// A magic number, the format's version, the machine's facts, the object, the keys of storages; then the storages, each behind
/// the number of its elements.
void readStream(std::string_view file, TorchFile& result) {
  constexpr std::string_view kMagic("\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 13);
  if (file.size() < 2 || !file.substr(2).starts_with(kMagic)) {
    fail("it is a pickle, and not one of torch.save: write the model by `torch.save(model.state_dict(), \"weights.pth\")`");
  }
  std::size_t at = 2 + kMagic.size();
  const auto next = [&](const char* what) {
    PickleValues values = pickleOrFail(file.substr(at), what, at);
    at += values.size();
    return values;
  };
  (void)next("version");
  const PickleValues machine = next("description");
  const Value* const isLittle = machine.find(machine.root(), "little_endian");
  if (isLittle != nullptr && machine.integer(*isLittle) == 0)
    fail("its numbers are big-endian: load and save it on a little-endian machine");
  const PickleValues values = next("pickle"), keys = next("list of storages");
  const std::map<std::string, std::size_t, std::less<>> widths = storageWidths(values);
  std::map<std::string, std::string_view, std::less<>> storages;
  if (keys.kind(keys.root()) != Kind::List) fail("its list of storages is none");
  for (const Value item : keys.items(keys.root())) {
    const std::string_view key = keys.kind(item) == Kind::Text ? keys.text(item) : std::string_view();
    const auto width = widths.find(key);
    if (width == widths.end() || width->second == 0)
      fail(fmt::format("the element type of the storage `{}` is not known, so what follows it cannot be found", key));
    std::uint64_t count = 0;
    if (file.size() - at < sizeof(count)) fail(fmt::format("it is cut off before the storage `{}`", key));
    std::memcpy(&count, file.data() + at, sizeof(count));
    at += sizeof(count);
    if (count > (file.size() - at) / width->second)
      fail(fmt::format("the storage `{}` should have {} elements: the file is cut off", key, count));
    storages.emplace(key, file.substr(at, count * width->second));
    at += count * width->second;
  }
  const auto storage = [&](std::string_view key) {
    const auto known = storages.find(key);
    if (known == storages.end()) fail(fmt::format("the storage `{}` is not in it", key));
    return known->second;
  };
  TensorReader(values, storage, file.size(), result).read();
}

}  // namespace

bool isPickled(std::string_view bytes) {
  if (bytes.starts_with('\x80')) return true;
  if (!bytes.starts_with("PK")) return false;
  const auto entries = zipDirectory(bytes);
  return entries && std::ranges::any_of(*entries, [](const ZipEntry& entry) { return entry.name.ends_with("data.pkl"); });
}

tl::expected<TorchFile, std::string> parseTorchFile(std::string_view file) {
  TorchFile result;
  try {
    if (file.starts_with("PK"))
      readArchive(file, result);
    else
      readStream(file, result);
  } catch (Refused& refused) {
    return Failure(std::move(refused.why));
  }
  return result;
}

}  // namespace tbem::data
