#include "runtime/data/Safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace tbem::data {

namespace {

using Failure = tl::unexpected<std::string>;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostHeader = 100'000'000;  // as the format's own library
constexpr std::size_t kMostDimensions = 64;

/// What the header says of one array.
struct Entry {
  std::string name;
  const ElementType* type = nullptr;
  std::vector<std::int64_t> shape;
  std::vector<std::uint64_t> offsets;
  bool hasShape = false;
};

/// Takes the JSON piece by piece and stops at the first thing that the format does not have: nothing is built from hostile text.
class HeaderReader final : public nlohmann::json_sax<Json> {
public:
  std::vector<Entry> entries;
  Metadata metadata;
  std::string error;

  bool start_object(std::size_t) override {
    if (at == At::Start) return go(At::Root);
    if (at == At::Root && !name.empty()) return go(At::Metadata);
    if (at == At::RootValue) return go(At::Array);
    return unexpected("an object");
  }
  bool end_object() override {
    if (at == At::Metadata) {
      name.clear();
      return go(At::Root);
    }
    if (at == At::Array) {
      const Entry& entry = entries.back();
      if (entry.type == nullptr) return wrong("no `dtype`");
      if (!entry.hasShape) return wrong("no `shape`");
      if (entry.offsets.size() != 2) return wrong("no `data_offsets` of two numbers");
      return go(At::Root);
    }
    return go(At::End);
  }
  bool start_array(std::size_t) override {
    if (at == At::Shape && !entries.back().hasShape) {
      entries.back().hasShape = true;
      return go(At::ShapeList);
    }
    if (at == At::Offsets && entries.back().offsets.empty()) return go(At::OffsetsList);
    return unexpected("a list");
  }
  bool end_array() override { return go(At::Array); }
  bool key(string_t& text) override {
    if (at == At::Root) {
      if (!names.insert(text).second) return fail(fmt::format("its header has `{}` twice", text));
      if (text == "__metadata__") {
        name = text;
        return true;
      }
      entries.push_back({text});
      return go(At::RootValue);
    }
    if (at == At::Metadata) {
      if (metadata.contains(text)) return fail(fmt::format("its metadata have `{}` twice", text));
      metadataKey = text;
      return go(At::MetadataValue);
    }
    const Entry& entry = entries.back();
    if (text == "dtype" && entry.type == nullptr) return go(At::Type);
    if (text == "shape" && !entry.hasShape) return go(At::Shape);
    if (text == "data_offsets" && entry.offsets.empty()) return go(At::Offsets);
    return wrong(fmt::format("a second or unknown field `{}`", text));
  }
  bool string(string_t& text) override {
    if (at == At::MetadataValue) {
      metadata[metadataKey] = text;
      return go(At::Metadata);
    }
    if (at != At::Type) return unexpected("a text");
    entries.back().type = findSafetensorsType(text);
    if (entries.back().type == nullptr) return wrong(fmt::format("element type `{}`, which is not read", text));
    return go(At::Array);
  }
  bool number_unsigned(number_unsigned_t value) override {
    Entry* entry = entries.empty() ? nullptr : &entries.back();
    if (at == At::ShapeList) {
      if (value > (std::uint64_t{1} << 62)) return wrong("a dimension above 2^62");
      if (entry->shape.size() == kMostDimensions) return wrong("more than 64 dimensions");
      entry->shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (at != At::OffsetsList) return unexpected("a number");
    if (entry->offsets.size() == 2) return wrong("more than two `data_offsets`");
    entry->offsets.push_back(value);
    return true;
  }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return unexpected("a fraction"); }
  bool boolean(bool) override { return unexpected("a truth value"); }
  bool null() override { return unexpected("`null`"); }
  bool binary(binary_t&) override { return unexpected("bytes"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail(fmt::format("its header is no JSON (byte {})", 8 + position));
  }

private:
  enum class At : std::uint8_t {
    Start,
    Root,
    RootValue,
    Metadata,
    MetadataValue,
    Array,
    Type,
    Shape,
    ShapeList,
    Offsets,
    OffsetsList,
    End
  };
  bool go(At next) {
    at = next;
    return true;
  }
  bool fail(std::string text) {
    error = std::move(text);
    return false;
  }
  bool wrong(std::string_view what) { return fail(fmt::format("`{}` has {}", entries.back().name, what)); }
  bool unexpected(std::string_view what) {
    return fail(fmt::format("its header has {} where the format has none{}", what,
                            entries.empty() ? std::string() : fmt::format(" (in or after `{}`)", entries.back().name)));
  }

  At at = At::Start;
  std::string name;  ///< "__metadata__" between that key and the end of its object
  std::string metadataKey;
  std::set<std::string, std::less<>> names;
};

/// The arrays by their bytes, which must fill `data` without gap or overlap.
tl::expected<std::vector<ArrayView>, std::string> place(std::vector<Entry> entries, std::string_view data) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  std::vector<ArrayView> arrays;
  std::uint64_t end = 0;
  for (Entry& entry : entries) {
    const std::uint64_t from = entry.offsets[0], to = entry.offsets[1];
    if (from > to || to > data.size()) {
      return Failure(
          fmt::format("`{}` has the bytes {} to {} of {}: the file is cut off or damaged", entry.name, from, to, data.size()));
    }
    if (from != end) {
      return Failure(fmt::format("`{}` begins at byte {}, the array before it ends at {}: {}", entry.name, from, end,
                                 from < end ? "they overlap" : "there is a gap"));
    }
    const auto elements = checkedElements(entry.shape, entry.type->bytes);
    if (!elements || *elements * entry.type->bytes != to - from) {
      return Failure(fmt::format("`{}` has {} bytes, which {} of shape {} does not take", entry.name, to - from,
                                 entry.type->safetensors, shapeText(entry.shape)));
    }
    end = to;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(data.data()) + from;
    arrays.emplace_back(std::move(entry.name), std::string(entry.type->name), std::move(entry.shape),
                        std::span(bytes, static_cast<std::size_t>(to - from)));
  }
  if (end != data.size()) return Failure(fmt::format("{} bytes behind the last array belong to none", data.size() - end));
  return arrays;
}

}  // namespace

tl::expected<Safetensors, std::string> parseSafetensors(std::string_view file) {
  if (file.size() < 8) return Failure(fmt::format("it has {} bytes, a .safetensors file 10 at least", file.size()));
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8U | static_cast<unsigned char>(file[static_cast<std::size_t>(i)]);
  if (length > kMostHeader)
    return Failure(fmt::format("its header of {} bytes is longer than the format allows (100 MB)", length));
  if (length > file.size() - 8) {
    return Failure(fmt::format("its header should have {} bytes, the file has {}: it is cut off", length, file.size() - 8));
  }
  const std::string_view text = file.substr(8, length);
  if (!text.starts_with('{')) return Failure("its header does not begin with `{`");
  HeaderReader reader;
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) return Failure(reader.error);
  auto arrays = place(std::move(reader.entries), file.substr(8 + length));
  if (!arrays) return Failure(arrays.error());
  return Safetensors{std::move(*arrays), std::move(reader.metadata)};
}

tl::expected<std::string, std::string> safetensorsHeader(std::vector<ArrayView>& arrays, const Metadata& metadata) {
  std::sort(arrays.begin(), arrays.end(), [](const ArrayView& a, const ArrayView& b) {
    const ElementType *left = findElementType(a.dtype), *right = findElementType(b.dtype);
    return left != right ? left > right : a.name < b.name;
  });
  std::string text = "{";
  std::uint64_t end = 0;
  std::set<std::string, std::less<>> names;
  try {
    if (!metadata.empty()) text += fmt::format("\"__metadata__\":{},", Json(metadata).dump());
    for (const ArrayView& array : arrays) {
      const ElementType* type = findElementType(array.dtype);
      if (type == nullptr)
        return Failure(fmt::format("`{}` has the element type `{}`, which is not written", array.name, array.dtype));
      if (array.name == "__metadata__" || !names.insert(array.name).second)
        return Failure(fmt::format("the name `{}` is taken", array.name));
      const std::uint64_t from = end;
      end += array.bytes.size();
      text += fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}},", Json(array.name).dump(),
                          type->safetensors, fmt::join(array.shape, ","), from, end);
    }
  } catch (const Json::exception&) {
    return Failure("a name or a text of the metadata is no UTF-8");
  }
  if (text.back() == ',') text.pop_back();
  text += '}';
  while (text.size() % 8 != 0) text += ' ';
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 0xFFU);
  return bytes + text;
}

tl::expected<void, std::string> writeSafetensors(const std::string& path, std::span<const ArrayView> arrays,
                                                 const Metadata& metadata) {
  std::vector<ArrayView> ordered(arrays.begin(), arrays.end());
  const auto header = safetensorsHeader(ordered, metadata);
  if (!header) return Failure(fmt::format("cannot write {}: {}", path, header.error()));
  std::vector<std::string_view> pieces = {*header};
  for (const ArrayView& array : ordered)
    pieces.emplace_back(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return writeFile(path, pieces);
}

}  // namespace tbem::data
