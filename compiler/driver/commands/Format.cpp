// tbemc fmt FILE...: canonical layout, to standard output, or back to the files.
#include "compiler/syntax/format/Format.h"

#include "compiler/driver/Commands.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/show/Out.h"
#include "runtime/files/Write.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tbem::driver {

namespace {

int formatOne(show::Out& out, const Options& options, const std::string& path) {
  Session session;
  const auto source = readSource(session, path);
  if (!source) return out.fail(source.error());
  const std::optional<std::string> text = syntax::format(**source, session.sink);
  const int status = out.diagnostics(session);
  if (!text) return status == kOk ? kProgramErrors : status;
  const bool changed = *text != (*source)->text;
  const bool silent = options.write || options.checkOnly;
  if (options.display.json) out.json("fmt", {{"file", path}, {"changed", changed}, {"text", silent ? Json() : Json(*text)}});
  if (options.checkOnly) {
    if (changed && !options.display.json) out.error(fmt::format("{}: not formatted (tbemc fmt -w {})\n", path, path));
    return changed ? kProgramErrors : kOk;
  }
  if (!options.write) {
    if (!options.display.json) out.data(*text);
    return kOk;
  }
  if (!changed) return kOk;
  const auto written = files::writeFile(path, *text);
  if (!written) {
    out.failure(written.error().message);
    return kEnvironment;
  }
  return kOk;
}

}  // namespace

int runFormat(show::Out& out, const Options& options) {
  int worst = kOk;
  for (const std::string& path : options.program.files) {
    const int status = formatOne(out, options, path);
    if (status > worst) worst = status;
  }
  return worst;
}

}  // namespace tbem::driver
