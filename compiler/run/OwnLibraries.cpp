#include "compiler/run/OwnLibraries.h"

#include "compiler/diagnostics/tables/Run.h"
#include "compiler/graph/ir/Opaque.h"
#include "compiler/jit/glue/CacheFile.h"
#include "compiler/jit/glue/Digest.h"
#include "runtime/core/Native.h"
#include "runtime/data/File.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace tbem::driver {

namespace {

/// Which content of a library was told last.
std::string recordOf(const std::string& path, const std::string& digest) { return path + "\n" + digest + "\n"; }

/// Tells that the library is opened now. One that cannot be read is left to the loader.
void tell(Events& events, const std::string& library) {
  std::error_code ignored;
  const std::string path = std::filesystem::weakly_canonical(library, ignored).string();
  const auto file = data::MappedFile::open(path);
  if (!file) return;
  const std::string digest = jit::sha256(file->text());
  const std::string record = cacheFilePath("libraries", path);
  std::string refused;
  const std::string before = record.empty() ? std::string() : readText(record, refused);
  if (!refused.empty()) events.note(notBelieved(refused));
  using Told = Events::OwnLibrary::Told;
  const Told told = before.empty() ? Told::Never : before == recordOf(path, digest) ? Told::Before : Told::OtherContent;
  if (!events.opensLibrary({path, digest, told}) || told == Told::Before) return;
  // Where nothing can be kept it is told again.
  if (!record.empty()) updateText(record, [&](const std::string&) { return recordOf(path, digest); });
}

tl::expected<std::uint64_t, estimate::LowerError> ask(Events& events, const graph::OwnCode& own, const tbem_native_args& args) {
  using Kind = runtime::NativeProblem::Kind;
  if (graph::isOpaque(own)) return tl::unexpected(estimate::LowerError{diag::opaque_not_run, own.range, {own.symbol}});
  if (!runtime::isNativeLoaded(own.library)) tell(events, own.library);
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

estimate::OwnWorkspace ownWorkspaces(Events& events, const Target& target) {
  if (target.ownCode == Target::OwnCode::Closed) return {};
  return [&events](const graph::OwnCode& own, const tbem_native_args& args) { return ask(events, own, args); };
}

std::string withoutWorkspaces(std::uint32_t calls) {
  if (calls == 0) return {};
  return fmt::format(
      "the arena is without the workspace{} of {} call{} of the program's own code: no clause `workspace` says how "
      "large, and no library is opened to ask",
      calls == 1 ? "" : "s", calls, calls == 1 ? "" : "s");
}

void noteUnknownWorkspaces(Events& events, std::uint32_t calls) {
  if (calls != 0) events.note(withoutWorkspaces(calls));
}

}  // namespace tbem::driver
