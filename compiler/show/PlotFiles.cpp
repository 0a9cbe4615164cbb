#include "compiler/show/PlotFiles.h"

#include "compiler/show/Output.h"
#include "compiler/show/Page.h"
#include "runtime/report/Svg.h"

#include <fmt/format.h>

#include <filesystem>

namespace tbem::driver {

bool writePlotFiles(const Options& options, const std::string& folder, const std::vector<PlotFile>& plots) {
  if (report::Page* page = openPage()) {
    for (const PlotFile& plot : plots) page->plot(plot.text);
    return true;
  }
  bool good = true;
  std::string names;
  for (const PlotFile& plot : plots) {
    const auto written = report::writeAtomically((std::filesystem::path(folder) / plot.name).string(), plot.text);
    if (!written) printFailure(written.error());
    good = good && written;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", plot.name);
  }
  if (!good || plots.empty()) return good;
  printNote(options, plots.size() == 1 ? fmt::format("plot in {}", (std::filesystem::path(folder) / names).string())
                                       : fmt::format("plots in {}: {}", folder, names));
  return true;
}

}  // namespace tbem::driver
