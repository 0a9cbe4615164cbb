// Rows of a design that were measured elsewhere, which a regression is of: `regress gap from "measured.csv"`.
#pragma once

#include "compiler/experiment/designs/Designs.h"
#include "compiler/foreign/MeasuredFile.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

struct RowElsewhere {
  std::size_t row = 0;  ///< of the design
  foreign::MeasuredRow measured;
};
struct Elsewhere {
  DesignRun* run = nullptr;
  std::unique_ptr<DesignRun> own;    ///< `run`, where the program has no design: a row for each of the file's
  std::vector<std::string> columns;  ///< that a response may name beside the quantities of a measured row
  std::vector<RowElsewhere> rows;    ///< in the order of the file
};

/// The file that a regression is of, as the program names it, beside the program; "": it is of a design.
std::string fileOf(const ast::Regress& decl);

/// The rows of that file, each found in its design: the one that the file names, or the program's only one. In a program without
/// a design the file is one (designOfFile), its factors what the terms name. Nothing after a report (E0634: file, line, what is
/// wrong), or where the design has mistakes of its own.
std::optional<Elsewhere> readElsewhere(Workspace& workspace, const Designs& designs, const ast::Regress& decl);

}  // namespace tbem::driver
