// Arrays as text: the CSV that `tbemc design --csv` prints and that `array "FILE.csv"` reads.
#pragma once

#include "compiler/design/array/Array.h"
#include "compiler/design/model/Factors.h"
#include "compiler/support/Csv.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tbem::design {

/// Why a text is no array of some factors, and where.
using ArrayTextFault = CsvFault;
using ArrayTextChoice = std::variant<Array, ArrayTextFault>;

/// CSV (Csv.h). The first line is
/// a header where it names a factor; then it names each once, in any order. Without a header the columns are the factors in
/// order. Cells are levels, by their label or number; where some cell is no level, all cells are levels' numbers from 0. The
/// result bears no name; its strength is 0: nothing was counted. A nested factor has an empty field where it does not exist. At
/// most `maxRows` rows.
ArrayTextChoice readArray(std::string_view text, std::span<const Factor> factors, std::size_t maxRows = 1'000'000);

}  // namespace tbem::design
