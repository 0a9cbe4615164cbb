// Pictures in a terminal: DEC's sixel graphics (VT330/VT340 Programmer Reference Manual, volume 2, chapter 14).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tbem::report {

/// Points that are set or not, from the left and from above.
class Bitmap {
public:
  Bitmap(std::size_t width, std::size_t height) : across(width), down(height), points(width * height, false) {}
  std::size_t width() const { return across; }
  std::size_t height() const { return down; }
  bool at(std::size_t x, std::size_t y) const { return points[y * across + x]; }
  void set(std::size_t x, std::size_t y) { points[y * across + x] = true; }

private:
  std::size_t across, down;
  std::vector<bool> points;
};

/// Points above each other in a character of the graphics: a terminal makes room for a multiple of it.
inline constexpr std::size_t kSixelBand = 6;

/// The points that are set, in one colour; the others are left as the terminal has them. The cursor ends somewhere below.
std::string sixel(const Bitmap& bitmap);

}  // namespace tbem::report
