#include "compiler/jit/glue/Jit.h"

#include "compiler/jit/cpu/Codegen.h"
#include "compiler/jit/cpu/Host.h"
#include "compiler/jit/glue/Cache.h"
#include "compiler/jit/glue/DeviceGlue.h"
#include "compiler/jit/glue/Link.h"
#include "compiler/jit/glue/Modules.h"
#include "compiler/jit/loop/Bytes.h"
#include "compiler/jit/nvptx/MachineCode.h"
#include "compiler/jit/nvptx/Ptx.h"

#include <fmt/format.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <chrono>
#include <cstdlib>

#include <link.h>

namespace tbem::jit {
namespace {

constexpr std::string_view kCodegen = "tbem-codegen-6";

/// The linker's build id of the file that holds this code: another compiler makes other objects. "" where the linker wrote none.
std::string buildId() {
  struct Search {
    std::uintptr_t address;
    std::string id;
  } search{reinterpret_cast<std::uintptr_t>(&buildId), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        bool holds = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& p = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + p.p_vaddr;
          holds = holds || (p.p_type == PT_LOAD && s.address >= begin && s.address < begin + p.p_memsz);
        }
        if (!holds) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& p = info->dlpi_phdr[i];
          if (p.p_type != PT_NOTE) continue;
          const char* at = reinterpret_cast<const char*>(info->dlpi_addr + p.p_vaddr);
          const char* end = at + p.p_memsz;
          while (at + sizeof(ElfW(Nhdr)) <= end) {
            const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
            const char* name = at + sizeof *note;
            const char* body = name + ((note->n_namesz + 3U) & ~3U);
            if (note->n_type == 3 && note->n_namesz == 4 && std::string_view(name, 3) == "GNU")
              s.id.assign(body, note->n_descsz);  // NT_GNU_BUILD_ID
            at = body + ((note->n_descsz + 3U) & ~3U);
          }
        }
        return 1;
      },
      &search);
  return search.id;
}

std::string text(llvm::Error error) { return llvm::toString(std::move(error)); }

std::string print(const llvm::Module& module) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  module.print(stream, nullptr);
  return out;
}

/// The kernels are vectors and folded already; what is left is to move invariant work (channel vectors, their reciprocals) out of
/// loops. The whole of O2 takes twice as long and gives no faster loops. Addresses are reduced by the code generator.
llvm::Error optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  return runPasses(module, machine, [](llvm::PassBuilder& builder, llvm::ModulePassManager& passes) {
    return builder.parsePassPipeline(passes, "function(early-cse,loop-mssa(loop-rotate,licm),early-cse,simplifycfg)");
  });
}

}  // namespace

std::string defaultCacheDir() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/') return std::string(xdg) + "/tbemc";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') return std::string(home) + "/.cache/tbemc";
  return {};
}

namespace {

/// One compilation.
class Compilation {
public:
  Compilation(const estimate::Program& program, const JitOptions& options)
      : program(program), options(options), architecture(program.target.empty() ? std::string() : options.architecture) {}
  tl::expected<Compiled, Error> run();

private:
  tl::expected<void, Error> prepare();
  tl::expected<CacheEntry, Error> build();
  tl::expected<std::string, Error> object(llvm::Module& module, bool loops);
  tl::expected<void, Error> addImage(Modules& modules);
  std::string runKey() const;

  const estimate::Program& program;
  const JitOptions& options;
  const std::string architecture;
  std::optional<llvm::orc::JITTargetMachineBuilder> host;
  Compiled result;
};

tl::expected<void, Error> Compilation::prepare() {
  auto detected = detectHost();
  if (!detected) return tl::make_unexpected(Error{detected.error()});
  host = std::move(*detected);
  return {};
}

std::string Compilation::runKey() const {
  Bytes bytes;
  bytes.string(kCodegen);
  bytes.string(LLVM_VERSION_STRING);
  bytes.number(TBEM_RT_ABI);
  bytes.string(buildId());
  bytes.string(host->getTargetTriple().str());
  bytes.string(host->getCPU());
  bytes.string(host->getFeatures().getString());
  bytes.number(options.marks);
  if (!architecture.empty()) bytes.string(fmt::format("{} {}", architecture, assemblerIdentity()));
  bytes.string(programKey(program));
  return hashKey(bytes.text);
}

tl::expected<CacheEntry, Error> Compilation::build() {
  llvm::LLVMContext context;
  auto modules = emitModules(context, program, options.marks);
  if (!modules) return tl::make_unexpected(Error{modules.error(), true});
  CacheEntry entry;
  std::vector<llvm::Module*> onHost{modules->loops.get(), modules->glue.get()};
  if (!program.target.empty()) {
    if (auto added = addImage(*modules); !added) return tl::make_unexpected(added.error());
    onHost = {modules->glue.get()};
  }
  for (llvm::Module* module : onHost) {
    auto compiled = object(*module, module == modules->loops.get());
    if (!compiled) return tl::make_unexpected(compiled.error());
    entry.objects.push_back(std::move(*compiled));
  }
  result.loops = std::move(modules->reports);
  return entry;
}

/// The loops become PTX, which the glue holds as data.
tl::expected<void, Error> Compilation::addImage(Modules& modules) {
  if (std::string wrong = unsound(*modules.loops); !wrong.empty()) return tl::make_unexpected(Error{wrong, true});
  if (options.keepIr) result.ir += print(*modules.loops) + "\n; ---- the step\n";
  auto ptx = ptxOf(*modules.loops, options.libdevice.empty() ? findLibdevice() : options.libdevice);
  if (!ptx) return tl::make_unexpected(Error{ptx.error()});
  if (options.keepIr) result.assembly = *ptx;
  // A card whose own code cannot be made here, such as one that is newer than the toolkit, has PTX.
  const auto code = architecture.empty() ? std::nullopt : machineCodeOf(*ptx, architecture);
  emitImage(*modules.glue, {*ptx, code.value_or(""), modules.kernels});
  return {};
}

tl::expected<std::string, Error> Compilation::object(llvm::Module& module, bool loops) {
  llvm::orc::JITTargetMachineBuilder target = *host;
  target.setCodeGenOptLevel(loops ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None);
  auto machine = target.createTargetMachine();
  if (!machine) return tl::make_unexpected(Error{"LLVM has no code generator for this processor: " + text(machine.takeError())});
  module.setDataLayout((*machine)->createDataLayout());
  module.setTargetTriple((*machine)->getTargetTriple().str());
  if (std::string wrong = unsound(module); !wrong.empty()) return tl::make_unexpected(Error{wrong, true});
  if (options.keepIr) result.ir += print(module);
  if (loops) {
    if (auto error = optimise(module, **machine))
      return tl::make_unexpected(Error{"LLVM does not know a pass: " + text(std::move(error))});
    if (options.keepIr) {
      result.ir += "\n; ---- loops after optimisation\n" + print(module) + "\n; ---- the step\n";
      const auto copy = llvm::CloneModule(module);
      result.assembly = writeCode(*copy, **machine, llvm::CodeGenFileType::AssemblyFile);
    }
  }
  std::string object = writeCode(module, **machine, llvm::CodeGenFileType::ObjectFile);
  if (object.empty()) return tl::make_unexpected(Error{"LLVM cannot write objects for this processor"});
  return object;
}

tl::expected<Compiled, Error> Compilation::run() {
  const auto start = std::chrono::steady_clock::now();
  if (auto ok = prepare(); !ok) return tl::make_unexpected(ok.error());
  result.key = runKey();
  const std::string dir = !options.cache ? std::string() : options.cacheDir.empty() ? defaultCacheDir() : options.cacheDir;
  if (!dir.empty()) result.cachePath = cachePath(dir, result.key);
  std::optional<CacheEntry> entry;
  if (!dir.empty() && !options.keepIr) entry = readCache(dir, result.key, result.cacheNote);
  result.cacheHit = entry.has_value();
  if (!entry) {
    auto built = build();
    if (!built) return tl::make_unexpected(built.error());
    entry = std::move(*built);
    if (!dir.empty()) {
      if (std::string problem = writeCache(dir, result.key, *entry); !problem.empty())
        result.cacheNote = "the object cache cannot be written: " + problem;
    }
  }
  result.executable = describe(program);
  if (options.link) {
    if (auto ok = link(*entry, result); !ok) return tl::make_unexpected(ok.error());
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(result);
}

}  // namespace

tl::expected<Compiled, Error> compile(const estimate::Program& program, const JitOptions& options) {
  return Compilation(program, options).run();
}

}  // namespace tbem::jit
