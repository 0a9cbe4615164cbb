#include "compiler/driver/commands/OwnLibraries.h"

#include "compiler/devices/CacheFile.h"
#include "compiler/diagnostics/tables/Run.h"
#include "compiler/driver/CliOptions.h"
#include "compiler/jit/glue/Digest.h"
#include "compiler/show/Output.h"
#include "runtime/core/Native.h"
#include "runtime/data/File.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string_view>

namespace tbem::driver {

namespace {

/// A worker's parent has told what is opened.
constexpr std::string_view kWorker = "worker";

bool runsSteps(const Options& options) { return needsOf(options.command).runs && !options.dryRun && options.emitStage.empty(); }

/// Which content of a library was told last.
std::string recordOf(const std::string& path, const std::string& digest) { return path + "\n" + digest + "\n"; }

/// Tells that the library is opened now. One that cannot be read is left to the loader.
void tell(const Options& options, const std::string& library) {
  std::error_code ignored;
  const std::string path = std::filesystem::weakly_canonical(library, ignored).string();
  const auto file = data::MappedFile::open(path);
  if (!file) return;
  const std::string digest = jit::sha256(file->text());
  const std::string record = cacheFilePath("libraries", path);
  std::string refused;
  const std::string before = record.empty() ? std::string() : readText(record, refused);
  if (!refused.empty()) printNote(options, notBelieved(refused));
  const bool known = before == recordOf(path, digest);
  if (options.json) printJson("library", {{"path", path}, {"sha256", digest}, {"told_before", known}});
  if (known || (options.quiet && !options.json)) return;
  if (!options.json) {
    printNote(options,
              fmt::format("the program's own library {} {}, with SHA-256 {}", path,
                          before.empty() ? "is opened for the first time" : "is opened, changed since the last time", digest));
  }
  // Where nothing can be kept it is told again.
  if (!record.empty()) updateText(record, [&](const std::string&) { return recordOf(path, digest); });
}

tl::expected<std::uint64_t, estimate::LowerError> ask(const Options& options, const graph::OwnCode& own,
                                                      const tbem_native_args& args) {
  using Kind = runtime::NativeProblem::Kind;
  if (options.command != kWorker && !runtime::isNativeLoaded(own.library)) tell(options, own.library);
  const auto code = runtime::loadNative(own.library, own.symbol);
  if (code) return code->workspace == nullptr ? 0 : code->workspace(&args);
  const Kind kind = code.error().kind;
  if (kind == Kind::NoSymbol)
    return tl::unexpected(estimate::LowerError{diag::own_symbol_missing, own.range, {own.library, own.symbol}});
  const Diag diag = kind == Kind::NoFile        ? diag::own_library_missing
                    : kind == Kind::NotLoadable ? diag::own_library_fails
                                                : diag::own_abi_differs;
  return tl::unexpected(estimate::LowerError{diag, own.range, {own.library, code.error().text}});
}

}  // namespace

estimate::OwnWorkspace ownWorkspaces(const Options& options) {
  if (!runsSteps(options)) return {};
  return [&options](const graph::OwnCode& own, const tbem_native_args& args) { return ask(options, own, args); };
}

std::string withoutWorkspaces(std::uint32_t calls) {
  if (calls == 0) return {};
  return fmt::format(
      "the arena is without the workspace{} of {} call{} of the program's own code: no clause `workspace` says how "
      "large, and no library is opened to ask",
      calls == 1 ? "" : "s", calls, calls == 1 ? "" : "s");
}

void noteUnknownWorkspaces(const Options& options, std::uint32_t calls) {
  if (calls != 0) printNote(options, withoutWorkspaces(calls));
}

}  // namespace tbem::driver
