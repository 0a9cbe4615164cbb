// Programs as text: reading and formatting them.
#include "compiler/syntax/parse/Parse.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/syntax/format/Format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tbem::SourceManager sources;
  const tbem::Source& source = sources.add("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  tbem::DiagnosticSink sink;
  tbem::syntax::parse(source, sink);
  tbem::DiagnosticSink ignored;
  (void)tbem::syntax::format(source, ignored);
  for (const tbem::Diagnostic& each : sink.all()) tbem::renderText(each, sources, {});
  return 0;
}
