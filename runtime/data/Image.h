// Images in memory, and how they become the numbers of an example.
#pragma once

#include "runtime/data/Dataset.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::data {

/// 8-bit samples of somebody else: sample (row y, column x, channel c) is samples[y * row + x * column + c * channel].
struct ImageView {
  const std::uint8_t* samples = nullptr;
  std::int64_t height = 0, width = 0, channels = 0;
  std::int64_t row = 0, column = 0, channel = 0;

  /// Row by row, the channels of a pixel side by side.
  static ImageView interleaved(const std::uint8_t* samples, std::int64_t height, std::int64_t width, std::int64_t channels) {
    return {samples, height, width, channels, width * channels, channels, 1};
  }
  /// One plane a channel.
  static ImageView planar(const std::uint8_t* samples, std::int64_t height, std::int64_t width, std::int64_t channels) {
    return {samples, height, width, channels, width, 1, height * width};
  }
};

/// A decoded image, interleaved; 1 channel (grey) or 3 (red, green, blue).
struct Image {
  std::int64_t height = 0, width = 0, channels = 0;
  std::vector<std::uint8_t> samples;

  ImageView view() const { return ImageView::interleaved(samples.data(), height, width, channels); }
};

/// Decodes a PNG, JPEG, PGM or PPM file, told apart by its first bytes. Palettes become colours, 16 bits become 8, an alpha
/// channel is dropped; a rotation in EXIF is not applied. Errors: what is wrong with the file. Files of more than 2^28 samples
/// are refused.
tl::expected<Image, std::string> decodeImage(std::string_view file);
constexpr std::int64_t kMostSamples = std::int64_t{1} << 28U;

tl::expected<Image, std::string> decodePng(std::string_view file);
/// The bytes of a PNG file. Errors: what libpng says.
tl::expected<std::string, std::string> encodePng(const Image& image);
tl::expected<Image, std::string> decodeJpeg(std::string_view file);
tl::expected<Image, std::string> decodePnm(std::string_view file);  ///< binary PGM (P5) and PPM (P6) with 8-bit samples

/// How images become inputs: the settings `size`, `channels`, `mean`, `std` of an image dataset.
struct Preparation {
  std::int64_t size = 0, channels = 0;
  std::vector<float> mean, deviation;  ///< one a channel

  std::int64_t elements() const { return channels * size * size; }
  /// Errors: a setting out of its range; `reader` is named in them.
  static tl::expected<Preparation, std::string> of(const Settings& settings, std::string_view reader);
};

/// Writes [channels, size, size] numbers: the largest centred square of the image, resized bilinearly (antialiased: the triangle
/// filter is as wide as a result's pixel when the image shrinks, as Pillow and PyTorch with antialias=True have it), as numbers
/// in [0, 1], less `mean`, divided by `deviation`. Grey becomes three equal channels; colour becomes grey by 0.299 R + 0.587 G +
/// 0.114 B (ITU-R BT.601).
void prepare(const ImageView& image, const Preparation& how, float* out);

/// A hash over what a dataset was made of (FNV-1a over 64-bit words), for Dataset::fingerprint.
class Fingerprint {
public:
  void mix(std::uint64_t word) { hash = (hash ^ word) * 0x100000001B3U; }
  void mix(std::string_view bytes);
  void mix(const Preparation& how);
  /// A file's name, size and time of change; nothing where it is not there. Not its folder: files that were moved, or are named
  /// from another working folder, are the same.
  void mixFile(const std::string& path);
  std::uint64_t value() const { return hash; }

private:
  std::uint64_t hash = 0xCBF29CE484222325U;
};

}  // namespace tbem::data
