#include "compiler/show/TextOut.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/support/Failed.h"

namespace tbem::show {

void TextOut::table(const report::Table& table) {
  report::TableStyle style;
  style.width = 0;
  written += report::render(table, style) + "\n";
}

void TextOut::jsonLine(std::string_view json) {
  written += json;
  written += '\n';
}

int TextOut::diagnostics(const Session& session) {
  written += renderAll(session.sink, session.sources, {});
  return session.sink.hasErrors() ? kProgramErrors : kOk;
}

void TextOut::failure(std::string_view text) { written += fmt::format("tbemc: {}\n", text); }

void TextOut::note(std::string_view text) { written += fmt::format("{}\n", text); }

std::unique_ptr<report::Progress> TextOut::progressBar() const {
  return std::make_unique<report::Progress>([](std::string_view) {}, report::ProgressStyle{});
}

}  // namespace tbem::show
