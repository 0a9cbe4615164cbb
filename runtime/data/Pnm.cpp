// Binary PGM and PPM (netpbm.sourceforge.net/doc/pgm.html, ppm.html) with samples of 8 bits.
#include "runtime/data/Image.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tbem::data {

namespace {

/// The header's next number: white space and comments, digits. Nothing where there is none, or it exceeds 2^28.
std::optional<std::int64_t> number(std::string_view file, std::size_t& at) {
  const auto isSpace = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (at < file.size() && (isSpace(file[at]) || file[at] == '#')) {
    if (file[at] == '#') {
      while (at < file.size() && file[at] != '\n') ++at;
    } else {
      ++at;
    }
  }
  std::int64_t value = 0;
  const std::size_t start = at;
  for (; at < file.size() && file[at] >= '0' && file[at] <= '9'; ++at) {
    value = value * 10 + (file[at] - '0');
    if (value > kMostSamples) return std::nullopt;
  }
  if (at == start) return std::nullopt;
  return value;
}

}  // namespace

tl::expected<Image, std::string> decodePnm(std::string_view file) {
  const char kind = file.size() > 1 ? file[1] : '?';
  if (kind != '5' && kind != '6')
    return tl::unexpected(fmt::format("netpbm format P{} is not read (binary PGM, P5, and PPM, P6, are)", kind));
  std::size_t at = 2;
  const auto width = number(file, at), height = number(file, at), most = number(file, at);
  if (!width || !height || !most || *width == 0 || *height == 0)
    return tl::unexpected(std::string("its header has no width, height and largest sample"));
  if (*most == 0 || *most > 255)
    return tl::unexpected(fmt::format("its largest sample is {}; samples up to 255 are read", *most));
  ++at;  // the one white space behind the header
  Image image{*height, *width, kind == '6' ? 3 : 1, {}};
  if (*width > kMostSamples / *height / image.channels)
    return tl::unexpected(fmt::format("{} by {} pixels are more than are read (2^28 samples)", *width, *height));
  const auto samples = static_cast<std::size_t>(image.height * image.width * image.channels);
  if (at > file.size() || file.size() - at < samples)
    return tl::unexpected(fmt::format("it has {} bytes of samples, its header asks for {}: it is cut off",
                                      at > file.size() ? 0 : file.size() - at, samples));
  image.samples.assign(file.begin() + static_cast<std::ptrdiff_t>(at), file.begin() + static_cast<std::ptrdiff_t>(at + samples));
  if (*most != 255) {
    for (std::uint8_t& sample : image.samples)
      sample = static_cast<std::uint8_t>((std::min<std::int64_t>(sample, *most) * 255 + *most / 2) / *most);
  }
  return image;
}

}  // namespace tbem::data
