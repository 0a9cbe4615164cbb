#include "runtime/data/Npz.h"

#include <fmt/format.h>

#include <cstring>

namespace tbem::data {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
using Failure = tl::unexpected<std::string>;

/// The text behind 'key': in a Python dictionary literal, up to the comma or brace that ends it.
tl::expected<std::string_view, std::string> field(std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "'";
  std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) return Failure(fmt::format("its header has no '{}'", key));
  at = header.find(':', at);
  if (at == std::string_view::npos) return Failure("its header is cut off");
  ++at;
  while (at < header.size() && header[at] == ' ') ++at;
  std::size_t end = at;
  for (int depth = 0; end < header.size(); ++end) {
    if (header[end] == '(') ++depth;
    if (header[end] == ')') --depth;
    if (depth == 0 && (header[end] == ',' || header[end] == '}')) break;
  }
  return header.substr(at, end - at);
}

tl::expected<std::vector<std::int64_t>, std::string> parseShape(std::string_view text) {
  std::vector<std::int64_t> shape;
  std::int64_t total = 1;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] < '0' || text[i] > '9') {
      if (text[i] != '(' && text[i] != ')' && text[i] != ',' && text[i] != ' ') {
        return Failure(fmt::format("its shape {} is no tuple of whole numbers", text));
      }
      ++i;
      continue;
    }
    std::int64_t value = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      value = value * 10 + (text[i] - '0');
      if (value > (std::int64_t{1} << 40)) return Failure("a dimension exceeds 2^40");
    }
    shape.push_back(value);
    if (shape.size() > 32) return Failure("it has more than 32 dimensions");
    if (value != 0 && total > (std::int64_t{1} << 40) / value) return Failure("it has more than 2^40 elements");
    total *= value;
  }
  return shape;
}

/// Column-major bytes in row-major order.
std::vector<std::uint8_t> fromFortran(const std::vector<std::uint8_t>& in, const std::vector<std::int64_t>& shape,
                                      std::size_t size) {
  std::vector<std::uint8_t> out(in.size());
  std::vector<std::int64_t> coordinate(shape.size(), 0);
  const std::size_t count = in.size() / size;
  for (std::size_t source = 0; source < count; ++source) {
    std::size_t target = 0;
    for (std::size_t k = 0; k < shape.size(); ++k)
      target = target * static_cast<std::size_t>(shape[k]) + static_cast<std::size_t>(coordinate[k]);
    std::memcpy(out.data() + target * size, in.data() + source * size, size);
    for (std::size_t k = 0; k < shape.size() && ++coordinate[k] == shape[k]; ++k) coordinate[k] = 0;
  }
  return out;
}

}  // namespace

std::string toNpy(const Array& array) {
  std::string shape = "(";
  for (const std::int64_t size : array.shape) shape += std::to_string(size) + ",";
  shape += ")";
  const char order = elementBytes(array.dtype) == 1 ? '|' : '<';
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}", order, array.dtype, shape);
  // The data begin at a multiple of 64, as the format asks.
  while ((kMagic.size() + 4 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string text(kMagic);
  text += '\x01';
  text += '\0';
  text += static_cast<char>(header.size() & 0xFFU);
  text += static_cast<char>(header.size() >> 8U);
  text += header;
  text.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return text;
}

tl::expected<NpyView, std::string> viewNpy(std::string_view bytes, std::string name) {
  if (bytes.size() < 10 || bytes.substr(0, 6) != kMagic) return Failure("it is no .npy file");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])); };
  const std::size_t major = byte(6);
  if (major < 1 || major > 3) return Failure(fmt::format("its .npy version {} is not known (1 to 3 are)", major));
  std::size_t length = byte(8) + (byte(9) << 8U);
  std::size_t start = 10;
  if (major >= 2) {
    if (bytes.size() < 12) return Failure("its header is cut off");
    length += (byte(10) << 16U) + (byte(11) << 24U);
    start = 12;
  }
  if (length > bytes.size() - start) return Failure("its header is cut off");
  const std::string_view header = bytes.substr(start, length);
  const auto descr = field(header, "descr");
  const auto order = field(header, "fortran_order");
  const auto shapeText = field(header, "shape");
  if (!descr) return Failure(descr.error());
  if (!order) return Failure(order.error());
  if (!shapeText) return Failure(shapeText.error());
  if (descr->size() < 4 || descr->front() != '\'' || descr->back() != '\'')
    return Failure("its element type is not a simple one");
  const std::string dtype(descr->substr(2, descr->size() - 3));
  const ElementType* type = findElementType(dtype);
  if (type == nullptr || !type->numpy)
    return Failure(fmt::format("element type {} is not read (floats, whole numbers and b1 are)", *descr));
  if ((*descr)[1] == '>') return Failure("big-endian arrays are not read: save it as little-endian");
  auto shape = parseShape(*shapeText);
  if (!shape) return Failure(shape.error());
  const auto elements = checkedElements(*shape, type->bytes);
  if (!elements) return Failure(fmt::format("its shape {} has too many elements", *shapeText));
  const std::size_t wanted = static_cast<std::size_t>(*elements) * type->bytes;
  const std::string_view data = bytes.substr(start + length);
  if (data.size() < wanted) return Failure(fmt::format("it has {} bytes of data, its shape asks for {}", data.size(), wanted));
  const std::span view(reinterpret_cast<const std::uint8_t*>(data.data()), wanted);
  const bool columnMajor = order->substr(0, 4) == "True" && shape->size() > 1;
  return NpyView{ArrayView(std::move(name), dtype, std::move(*shape), view), columnMajor};
}

tl::expected<Array, std::string> parseNpy(std::string_view bytes, std::string name) {
  auto view = viewNpy(bytes, std::move(name));
  if (!view) return Failure(view.error());
  const ArrayView& from = view->array;
  Array array{from.name, from.dtype, from.shape, {from.bytes.begin(), from.bytes.end()}};
  if (view->columnMajor) array.bytes = fromFortran(array.bytes, array.shape, elementBytes(array.dtype));
  return array;
}

}  // namespace tbem::data
