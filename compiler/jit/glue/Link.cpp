#include "compiler/jit/glue/Link.h"

#include <fmt/format.h>
#include <llvm/ExecutionEngine/JITLink/EHFrameSupport.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>

#include <chrono>
#include <cmath>
#include <cstring>

namespace tbem::jit {

namespace orc = llvm::orc;

/// ORC's linker alone: what is loaded was compiled before, and a program that only loads code holds no code generator.
struct LinkedCode {
  explicit LinkedCode(std::unique_ptr<orc::ExecutorProcessControl> process) : session(std::move(process)), layer(session) {}
  ~LinkedCode() {
    if (auto error = session.endSession()) llvm::consumeError(std::move(error));  // nobody is left to hear of it
  }
  LinkedCode(const LinkedCode&) = delete;
  LinkedCode& operator=(const LinkedCode&) = delete;

  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
};
Compiled::Compiled() = default;
Compiled::Compiled(Compiled&&) noexcept = default;
Compiled& Compiled::operator=(Compiled&&) noexcept = default;
Compiled::~Compiled() = default;

namespace {

/// What native code calls, by name.
orc::SymbolMap callees(orc::ExecutionSession& session) {
  orc::SymbolMap symbols;
  auto define = [&](const char* name, auto* function) {
    symbols[session.intern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                     llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  define("tbem_rt_call", &tbem_rt_call);
  define("tbem_rt_parallel", &tbem_rt_parallel);
  define("tbem_rt_parts", &tbem_rt_parts);
  define("tbem_rt_mark", &tbem_rt_mark);
  define("tbem_rt_join", &tbem_rt_join);
  define("tbem_rt_launch", &tbem_rt_launch);
  define("tbem_rt_zero", &tbem_rt_zero);
  define("tbem_rt_move", &tbem_rt_move);
  define("tbem_rt_count", &tbem_rt_count);
  define("tbem_rt_micro_batch", &tbem_rt_micro_batch);
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
  return symbols;
}

/// The code for a device, where the object has some.
llvm::Error findImage(orc::ExecutionSession& session, orc::JITDylib& library, Compiled& compiled) {
  const auto image = session.intern("tbem_image"), kernels = session.intern("tbem_kernels");
  const auto code = session.intern("tbem_machine_code"), bytes = session.intern("tbem_machine_code_bytes");
  auto found =
      session.lookup(orc::makeJITDylibSearchOrder(&library),
                     orc::SymbolLookupSet({image, kernels, code, bytes}, orc::SymbolLookupFlags::WeaklyReferencedSymbol));
  if (!found) return found.takeError();
  if (found->empty()) return llvm::Error::success();
  compiled.executable.image = found->at(image).getAddress().toPtr<const char*>();
  compiled.executable.kernels = *found->at(kernels).getAddress().toPtr<const std::uint32_t*>();
  if (found->contains(code)) {
    const std::uint64_t size = *found->at(bytes).getAddress().toPtr<const std::uint64_t*>();
    compiled.executable.machineCode = {found->at(code).getAddress().toPtr<const char*>(), size};
  }
  return llvm::Error::success();
}

llvm::Expected<orc::ExecutorAddr> stepOf(const CacheEntry& entry, LinkedCode& code, Compiled& compiled) {
  orc::ExecutionSession& session = code.session;
  orc::JITDylib& library = session.createBareJITDylib("tbem");
  // Through frames of native code an exception may pass, of a backend that gets no memory.
  code.layer.addPlugin(
      std::make_unique<orc::EHFrameRegistrationPlugin>(session, std::make_unique<llvm::jitlink::InProcessEHFrameRegistrar>()));
  if (auto error = library.define(orc::absoluteSymbols(callees(session)))) return error;
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
  if (!process) return process.takeError();
  library.addGenerator(std::move(*process));
  for (const std::string& object : entry.objects) {
    if (auto error = code.layer.add(library, llvm::MemoryBuffer::getMemBufferCopy(object, "tbem"))) return error;
  }
  auto symbol = session.lookup({&library}, "tbem_step");
  if (!symbol) return symbol.takeError();
  if (auto error = findImage(session, library, compiled)) return error;
  return symbol->getAddress();
}

}  // namespace

tl::expected<void, Error> link(const CacheEntry& entry, Compiled& compiled) {
  const auto fail = [](llvm::Error error) {
    return tl::make_unexpected(Error{"the native code cannot be loaded: " + llvm::toString(std::move(error))});
  };
  auto process = orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!process) return fail(process.takeError());
  auto code = std::make_unique<LinkedCode>(std::move(*process));
  auto address = stepOf(entry, *code, compiled);
  if (!address) return fail(address.takeError());
  compiled.step = compiled.executable.step = address->toPtr<tbem_rt_step>();
  compiled.code = std::move(code);
  return {};
}

tl::expected<Compiled, Error> load(const std::string& key, const std::string& cacheDir) {
  const auto start = std::chrono::steady_clock::now();
  Compiled result;
  result.key = key;
  result.cachePath = cachePath(cacheDir, key);
  const std::optional<CacheEntry> entry = readCache(cacheDir, key, result.cacheNote);
  if (!entry) {
    return tl::make_unexpected(Error{fmt::format("the compiled step {} is not in the cache {}{}; compile it first", key, cacheDir,
                                                 result.cacheNote.empty() ? "" : " (" + result.cacheNote + ")")});
  }
  result.cacheHit = true;
  if (auto ok = link(*entry, result); !ok) return tl::make_unexpected(ok.error());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace tbem::jit
