// A table of values as a design: its rows are the experiment, whoever made it.
#pragma once

#include "compiler/experiment/designs/Designs.h"
#include "compiler/foreign/MeasuredFile.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tbem::driver {

struct FileDesign {
  std::unique_ptr<DesignRun> run;
  std::vector<std::size_t> rows;  ///< by row of the file: its row of the design
};

/// A design of these factors, whose levels are those of the file: numbers where all cells of a factor are. Lines of equal levels
/// are rows of their own, but for repeats (column `repeat`) and backends: the first line of each is the same row, and so is the
/// second. Errors: "LINE: what is wrong".
tl::expected<FileDesign, std::string> designOfFile(const std::string& name, SrcRange range,
                                                   const std::vector<std::string>& factors,
                                                   const std::vector<foreign::MeasuredRow>& rows);

}  // namespace tbem::driver
