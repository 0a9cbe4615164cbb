// tbemc fmt FILE...: canonical layout, to standard output, or back to the files.
#include "compiler/syntax/format/Format.h"

#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/experiment/Workspace.h"
#include "compiler/show/Out.h"
#include "runtime/files/Write.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tbem::driver {

namespace {

struct FormatOptions : CommandOptions {
  bool write = false, checkOnly = false, upgrade = false;
};

void declare(OptionList& list, FormatOptions& o) {
  list.add("FILE", o.program.files, "programs; - is standard input").required();
  const Option write = list.flag("-w,--write", o.write, "write the result back to the files");
  list.flag("--check", o.checkOnly, "exit with 1 if a file is not formatted").excludes(write);
  list.flag("--upgrade", o.upgrade, "rewrite old forms (there is one version so far: nothing to rewrite)");
  addDisplay(list, o);
}

std::string unheeded(const Given& /*given*/, const FormatOptions& options) {
  return options.write ? unwritable(options, "-w") : std::string();
}

int formatOne(show::Out& out, const FormatOptions& options, const std::string& path) {
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

int run(show::Out& out, const FormatOptions& options) {
  int worst = kOk;
  for (const std::string& path : options.program.files) {
    const int status = formatOne(out, options, path);
    if (status > worst) worst = status;
  }
  return worst;
}

}  // namespace

const Command kFormat = {"fmt", "format a program; keeps every comment", Takes::Own, false,
                         invocation<FormatOptions, declare, unheeded, run>};

}  // namespace tbem::driver
