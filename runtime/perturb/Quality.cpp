// How much a point looks like its example.
#include "runtime/perturb/Summary.h"

#include <array>
#include <cmath>
#include <limits>

namespace tbem::perturb {

namespace {

constexpr std::size_t kWindow = 11;
constexpr double kCentre = 5;                                  ///< the window's place in the middle
constexpr double kSigma = 1.5, kFirst = 0.01, kSecond = 0.03;  // Wang et al. 2004, sections III-B and III-C

/// The window along one axis; the window itself is its product with itself.
std::array<double, kWindow> weights() {
  std::array<double, kWindow> all{};
  double sum = 0;
  for (std::size_t i = 0; i < kWindow; ++i) {
    const double place = static_cast<double>(i) - kCentre;
    all[i] = std::exp(-place * place / (2 * kSigma * kSigma));
    sum += all[i];
  }
  for (double& weight : all) weight /= sum;
  return all;
}

/// Weighted means over all windows that lie in an image of so many rows and columns, row-major.
std::vector<double> windowMeans(const std::vector<double>& image, std::size_t rows, std::size_t columns) {
  static const std::array<double, kWindow> kWeights = weights();
  const std::size_t across = columns - kWindow + 1, down = rows - kWindow + 1;
  std::vector<double> along(rows * across), means(down * across);
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < across; ++x) {
      for (std::size_t i = 0; i < kWindow; ++i) along[y * across + x] += kWeights[i] * image[y * columns + x + i];
    }
  }
  for (std::size_t y = 0; y < down; ++y) {
    for (std::size_t i = 0; i < kWindow; ++i) {
      for (std::size_t x = 0; x < across; ++x) means[y * across + x] += kWeights[i] * along[(y + i) * across + x];
    }
  }
  return means;
}

/// Of one channel, in the mean over its windows (equation 13).
double ssimOfChannel(std::span<const float> a, std::span<const float> b, std::size_t rows, std::size_t columns, double width) {
  const std::vector<double> x(a.begin(), a.end()), y(b.begin(), b.end());
  std::vector<double> xx(x.size()), yy(x.size()), xy(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx[i] = x[i] * x[i];
    yy[i] = y[i] * y[i];
    xy[i] = x[i] * y[i];
  }
  const std::vector<double> meanX = windowMeans(x, rows, columns), meanY = windowMeans(y, rows, columns),
                            meanXX = windowMeans(xx, rows, columns), meanYY = windowMeans(yy, rows, columns),
                            meanXY = windowMeans(xy, rows, columns);
  const double c1 = kFirst * width * kFirst * width, c2 = kSecond * width * kSecond * width;
  double sum = 0;
  for (std::size_t i = 0; i < meanX.size(); ++i) {
    const double varianceX = meanXX[i] - meanX[i] * meanX[i], varianceY = meanYY[i] - meanY[i] * meanY[i];
    const double covariance = meanXY[i] - meanX[i] * meanY[i];
    sum += (2 * meanX[i] * meanY[i] + c1) * (2 * covariance + c2) /
           ((meanX[i] * meanX[i] + meanY[i] * meanY[i] + c1) * (varianceX + varianceY + c2));
  }
  return sum / static_cast<double>(meanX.size());
}

}  // namespace

double psnr(std::span<const float> a, std::span<const float> b, double width) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    squares += apart * apart;
  }
  if (squares == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(width * width * static_cast<double>(a.size()) / squares);
}

std::optional<double> ssim(std::span<const float> a, std::span<const float> b, std::span<const std::int64_t> shape,
                           double width) {
  if (shape.size() != 3) return std::nullopt;
  const auto channels = static_cast<std::size_t>(shape[0]), rows = static_cast<std::size_t>(shape[1]),
             columns = static_cast<std::size_t>(shape[2]);
  if (rows < kWindow || columns < kWindow) return std::nullopt;
  double sum = 0;
  for (std::size_t c = 0; c < channels; ++c) {
    const std::size_t first = c * rows * columns, count = rows * columns;
    sum += ssimOfChannel(a.subspan(first, count), b.subspan(first, count), rows, columns, width);
  }
  return sum / static_cast<double>(channels);
}

}  // namespace tbem::perturb
