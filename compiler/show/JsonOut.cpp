#include "compiler/show/JsonOut.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/show/json/Check.h"
#include "compiler/support/Bug.h"
#include "compiler/support/Failed.h"
#include "compiler/support/Json.h"

namespace tbem::show {

void JsonOut::table(const report::Table& table) { TBEM_BUG("a table where JSON is wanted: {}", table.title); }

bool JsonOut::plots(const std::string& folder, const std::vector<PlotFile>& plots) {
  if (plots.empty()) return true;
  failure(fmt::format("plots are written by the program tbemc alone, not to {}", folder));
  return false;
}

bool JsonOut::timeline(const std::string& folder, const std::string& name, const report::Timeline& /*timeline*/) {
  return plots(folder, {{name, {}}});
}

void JsonOut::jsonLine(std::string_view json) {
  checkPrinted(json);
  objects.push_back(printableJson(json));
}

int JsonOut::diagnostics(const Session& session) {
  for (const Diagnostic& diagnostic : session.sink.all()) jsonLine(renderJson(diagnostic, session.sources));
  return session.sink.hasErrors() ? kProgramErrors : kOk;
}

std::unique_ptr<report::Progress> JsonOut::progressBar() const {
  return std::make_unique<report::Progress>([](std::string_view) {}, report::ProgressStyle{});
}

}  // namespace tbem::show
