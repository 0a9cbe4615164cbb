#include "runtime/data/Image.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

namespace tbem::data {

namespace {

/// The samples that make one sample of the result, from `first`, with their weights (their sum is 1).
struct Taps {
  std::int64_t first = 0;
  std::vector<float> weights;
};

std::vector<Taps> tapsOf(std::int64_t in, std::int64_t out) {
  std::vector<Taps> all(static_cast<std::size_t>(out));
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  const double support = std::max(scale, 1.0);
  for (std::int64_t i = 0; i < out; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(centre - support + 0.5), 0);
    const auto last = std::min(static_cast<std::int64_t>(centre + support + 0.5), in);
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t x = first; x < last; ++x) {
      weights.push_back(std::max(0.0, 1 - std::fabs(static_cast<double>(x) + 0.5 - centre) / support));
      sum += weights.back();
    }
    Taps& taps = all[static_cast<std::size_t>(i)];
    taps.first = first;
    for (const double weight : weights) taps.weights.push_back(static_cast<float>(weight / sum));
  }
  return all;
}

/// Channel `c` of the result's `channels` at a pixel, from 0 to 255.
float sampleOf(const ImageView& image, const std::uint8_t* pixel, std::int64_t channels, std::int64_t c) {
  if (channels == image.channels) return pixel[c * image.channel];
  if (image.channels == 1) return pixel[0];
  return 0.299F * pixel[0] + 0.587F * pixel[image.channel] + 0.114F * pixel[2 * image.channel];
}

float at(const std::vector<float>& values, std::int64_t i) { return values[static_cast<std::size_t>(i)]; }

}  // namespace

tl::expected<Preparation, std::string> Preparation::of(const Settings& settings, std::string_view reader) {
  Preparation how;
  how.size = settings.get<std::int64_t>("size");
  how.channels = settings.get<std::int64_t>("channels");
  if (how.size < 1 || how.size > 8192)
    return tl::unexpected(fmt::format("{}: `size` is {}; it is from 1 to 8192 pixels", reader, how.size));
  if (how.channels != 1 && how.channels != 3)
    return tl::unexpected(fmt::format("{}: `channels` is {}; it is 1 (grey) or 3 (red, green, blue)", reader, how.channels));
  const auto list = [&](const char* name, std::vector<float>& to, float neutral) -> std::string {
    const auto given = settings.get<std::vector<double>>(name);
    to.assign(static_cast<std::size_t>(how.channels), neutral);
    if (given.empty()) return {};
    if (given.size() != 1 && given.size() != to.size())
      return fmt::format("{}: `{}` has {} numbers; it has one, or one a channel ({})", reader, name, given.size(), how.channels);
    for (std::size_t c = 0; c < to.size(); ++c) to[c] = static_cast<float>(given[given.size() == 1 ? 0 : c]);
    return {};
  };
  if (auto problem = list("mean", how.mean, 0); !problem.empty()) return tl::unexpected(std::move(problem));
  if (auto problem = list("std", how.deviation, 1); !problem.empty()) return tl::unexpected(std::move(problem));
  for (const float one : how.deviation) {
    if (!(one > 0) || !std::isfinite(one))
      return tl::unexpected(fmt::format("{}: `std` has {:g}; numbers are divided by it, so it is above 0", reader, one));
  }
  return how;
}

void prepare(const ImageView& image, const Preparation& how, float* out) {
  const std::int64_t side = std::min(image.height, image.width), size = how.size, channels = how.channels;
  const std::uint8_t* corner = image.samples + (image.height - side) / 2 * image.row + (image.width - side) / 2 * image.column;
  const std::vector<Taps> taps = tapsOf(side, size);
  // Rows first, one channel at a time: [side, size] numbers at most.
  std::vector<float> rows(static_cast<std::size_t>(side * size));
  std::vector<float> line(static_cast<std::size_t>(side));
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t y = 0; y < side; ++y) {
      for (std::int64_t x = 0; x < side; ++x)
        line[static_cast<std::size_t>(x)] = sampleOf(image, corner + y * image.row + x * image.column, channels, c);
      for (std::int64_t x = 0; x < size; ++x) {
        const Taps& tap = taps[static_cast<std::size_t>(x)];
        float sum = 0;
        for (std::size_t k = 0; k < tap.weights.size(); ++k)
          sum += tap.weights[k] * line[static_cast<std::size_t>(tap.first) + k];
        rows[static_cast<std::size_t>(y * size + x)] = sum;
      }
    }
    const float mean = at(how.mean, c), deviation = at(how.deviation, c);
    for (std::int64_t y = 0; y < size; ++y) {
      const Taps& tap = taps[static_cast<std::size_t>(y)];
      for (std::int64_t x = 0; x < size; ++x) {
        float sum = 0;
        for (std::size_t k = 0; k < tap.weights.size(); ++k)
          sum += tap.weights[k] *
                 rows[(static_cast<std::size_t>(tap.first) + k) * static_cast<std::size_t>(size) + static_cast<std::size_t>(x)];
        *out++ = (sum / 255 - mean) / deviation;
      }
    }
  }
}

tl::expected<Image, std::string> decodeImage(std::string_view file) {
  if (file.starts_with("\x89PNG")) return decodePng(file);
  if (file.starts_with("\xff\xd8\xff")) return decodeJpeg(file);
  if (file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '7') return decodePnm(file);
  return tl::unexpected(std::string("it is no PNG, JPEG, PGM or PPM file"));
}

void Fingerprint::mix(std::string_view bytes) {
  mix(bytes.size());
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    mix(word);
  }
  for (const char one : bytes) mix(static_cast<std::uint64_t>(static_cast<unsigned char>(one)));
}

void Fingerprint::mix(const Preparation& how) {
  mix(static_cast<std::uint64_t>(how.size));
  mix(static_cast<std::uint64_t>(how.channels));
  for (const auto* list : {&how.mean, &how.deviation}) {
    for (const float one : *list) mix(fmt::format("{:a}", one));
  }
}

void Fingerprint::mixFile(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return;
  mix(std::filesystem::path(path).filename().string());
  mix(static_cast<std::uint64_t>(status.st_size));
  mix(static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
}

}  // namespace tbem::data
