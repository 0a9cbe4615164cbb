// How answers of a dialogue are shown: text, or objects of `--json`.
#pragma once

#include "compiler/repl/Dialogue.h"
#include "compiler/show/Out.h"
#include "runtime/report/TextPlot.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace tbem::repl {

void showDeclared(show::Out& out, const Declared& declared);
void showValue(show::Out& out, const ShownValue& value);
void showCost(show::Out& out, const CallCost& cost);
/// `name`: "" of one that has none.
void showTensor(show::Out& out, const std::string& name, const Tensor& tensor);
/// Operators in the order in which they are called.
void showShapes(show::Out& out, const CallCost& cost);
/// Operators by name, those first that take most.
void showFlops(show::Out& out, const CallCost& cost);
/// A curve of up to some thousand numbers in a row, a histogram of others. `pixels`: asked once a curve is to be shown; what it
/// gives is the size of a character where the terminal shows pictures.
void showPlot(show::Out& out, const std::vector<double>& numbers, bool inARow,
              const std::function<std::optional<report::CellSize>()>& pixels);
/// Text that is shown as it is. `what`: "help", "plot", "file".
void showText(show::Out& out, const char* what, const std::string& text);
/// The program with the numbers of its lines.
void showProgram(show::Out& out, const std::string& text);

}  // namespace tbem::repl
