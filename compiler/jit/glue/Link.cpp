#include "compiler/jit/glue/Link.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <chrono>
#include <cmath>
#include <cstring>

namespace tbem::jit {

struct LinkedCode {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};
Compiled::Compiled() = default;
Compiled::Compiled(Compiled&&) noexcept = default;
Compiled& Compiled::operator=(Compiled&&) noexcept = default;
Compiled::~Compiled() = default;

namespace {
std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }
}  // namespace

tl::expected<void, Error> link(const CacheEntry& entry, const llvm::orc::JITTargetMachineBuilder& host, Compiled& compiled) {
  auto fail = [](llvm::Error error) {
    return tl::make_unexpected(Error{"the native code cannot be loaded: " + text(std::move(error))});
  };
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(host).create();
  if (!jit) return fail(jit.takeError());
  llvm::orc::SymbolMap symbols;
  auto define = [&](const char* name, auto* function) {
    symbols[(*jit)->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                              llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  define("tbem_rt_call", &tbem_rt_call);
  define("tbem_rt_parallel", &tbem_rt_parallel);
  define("tbem_rt_parts", &tbem_rt_parts);
  define("tbem_rt_mark", &tbem_rt_mark);
  using F64 = double (*)(double);
  using F32 = float (*)(float);
  for (auto [name, function] : std::initializer_list<std::pair<const char*, F64>>{
           {"exp", ::exp}, {"log", ::log}, {"tanh", ::tanh}, {"erf", ::erf}, {"sin", ::sin}, {"cos", ::cos}})
    define(name, function);
  for (auto [name, function] :
       std::initializer_list<std::pair<const char*, F32>>{{"sinf", ::sinf}, {"cosf", ::cosf}, {"floorf", ::floorf}})
    define(name, function);
  define("floor", static_cast<F64>(::floor));
  define("pow", static_cast<double (*)(double, double)>(::pow));
  define("powf", static_cast<float (*)(float, float)>(::powf));
  define("memset", static_cast<void* (*)(void*, int, std::size_t)>(::memset));
  define("memcpy", static_cast<void* (*)(void*, const void*, std::size_t)>(::memcpy));
  if (auto error = (*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return fail(std::move(error));
  for (const std::string& object : entry.objects) {
    if (auto error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "tbem"))) return fail(std::move(error));
  }
  auto address = (*jit)->lookup("tbem_step");
  if (!address) return fail(address.takeError());
  compiled.step = compiled.executable.step = address->toPtr<tbem_rt_step>();
  compiled.code = std::make_unique<LinkedCode>();
  compiled.code->jit = std::move(*jit);
  return {};
}

tl::expected<Compiled, Error> load(const std::string& key, const std::string& cacheDir) {
  const auto start = std::chrono::steady_clock::now();
  auto host = detectHost();
  if (!host) return tl::make_unexpected(Error{host.error()});
  Compiled result;
  result.key = key;
  result.cachePath = cachePath(cacheDir, key);
  const std::optional<CacheEntry> entry = readCache(cacheDir, key, result.cacheNote);
  if (!entry) {
    return tl::make_unexpected(Error{fmt::format("the compiled step {} is not in the cache {}{}; compile it first", key, cacheDir,
                                                 result.cacheNote.empty() ? "" : " (" + result.cacheNote + ")")});
  }
  result.cacheHit = true;
  if (auto ok = link(*entry, *host, result); !ok) return tl::make_unexpected(ok.error());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace tbem::jit
