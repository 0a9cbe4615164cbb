// Small images in rows and columns, with what is said of each, as SVG.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::report {

struct Picture {
  std::vector<std::string> images;  ///< side by side: the bytes of PNG files
  std::vector<std::string> lines;   ///< below them
  /// A row of squares below these: full (1), empty (0), or a dot (-1).
  std::vector<std::int8_t> marks;
};

struct PictureGrid {
  std::string title, subtitle;
  std::vector<std::string> columns;         ///< heads
  std::vector<std::string> rows;            ///< at the left of each
  std::vector<std::vector<Picture>> cells;  ///< by row, by column
};

/// A whole SVG document with the images inside, drawn in squares without smoothing. Within a column all cells have as many
/// images.
std::string picturesSvg(const PictureGrid& grid);

}  // namespace tbem::report
