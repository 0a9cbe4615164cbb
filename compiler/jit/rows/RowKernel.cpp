#include "compiler/jit/rows/RowKernel.h"

#include "compiler/jit/cpu/Host.h"
#include "compiler/jit/rows/RowIr.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Verifier.h>

#include <algorithm>
#include <array>

namespace tbem::jit {

namespace {
/// Whole numbers below are doubles.
constexpr double kCertain = 9007199254740992.0;  // 2^53
/// Blocks that are laid out, computed and read back together: a few pages.
constexpr std::size_t kBlocks = 16;
using Function = void (*)(const double* levels, double* results, std::int64_t blocks);
}  // namespace

struct RowKernel::Code {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Function function = nullptr;
  std::size_t symbols = 0, roots = 0;
};

RowKernel::RowKernel(std::unique_ptr<Code> code) : code(std::move(code)) {}
RowKernel::RowKernel(RowKernel&&) noexcept = default;
RowKernel& RowKernel::operator=(RowKernel&&) noexcept = default;
RowKernel::~RowKernel() = default;

std::size_t RowKernel::symbols() const { return code->symbols; }

RowValues RowKernel::evaluate(std::span<const double> levels) const {
  const std::size_t symbols = code->symbols, stride = code->roots + 1;
  const std::size_t rows = symbols == 0 ? 0 : levels.size() / symbols;
  RowValues found;
  found.roots = code->roots;
  found.values.resize(rows * code->roots);
  found.certain.resize(rows);
  std::vector<double> in(kBlocks * symbols * kRowLanes), out(kBlocks * stride * kRowLanes);
  for (std::size_t first = 0; first < rows; first += kBlocks * kRowLanes) {
    const std::size_t here = std::min(rows - first, kBlocks * kRowLanes), blocks = (here + kRowLanes - 1) / kRowLanes;
    for (std::size_t i = 0; i < blocks * kRowLanes; ++i) {
      const double* row = levels.data() + (first + std::min(i, here - 1)) * symbols;  // lanes without a row repeat the last one
      for (std::size_t s = 0; s < symbols; ++s) in[(i / kRowLanes * symbols + s) * kRowLanes + i % kRowLanes] = row[s];
    }
    code->function(in.data(), out.data(), static_cast<std::int64_t>(blocks));
    for (std::size_t i = 0; i < here; ++i) {
      const double* lane = out.data() + i / kRowLanes * stride * kRowLanes + i % kRowLanes;
      for (std::size_t root = 0; root < code->roots; ++root)
        found.values[(first + i) * code->roots + root] = lane[root * kRowLanes];
      found.certain[first + i] = lane[code->roots * kRowLanes] < kCertain;
    }
  }
  return found;
}

tl::expected<RowKernel, Error> compileRows(const sema::ExprPool& pool, std::span<const sema::ExprId> roots) {
  auto host = detectHost();
  if (!host) return tl::make_unexpected(Error{host.error()});
  // One long block without loops inside: the code generator's time grows faster than its length, so nothing is scheduled.
  host->setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = std::make_unique<llvm::Module>("rows", *context);
  if (auto ok = emitRows(*module, pool, roots); !ok) return tl::make_unexpected(Error{ok.error()});
  if (std::string wrong = unsound(*module); !wrong.empty()) return tl::make_unexpected(Error{wrong, true});
  auto made = std::make_unique<RowKernel::Code>();
  const auto fail = [](llvm::Error error) {
    return tl::make_unexpected(Error{"the native code cannot be loaded: " + llvm::toString(std::move(error))});
  };
  auto jit = llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(*host).create();
  if (!jit) return fail(jit.takeError());
  made->jit = std::move(*jit);
  module->setDataLayout(made->jit->getDataLayout());
  if (auto error = made->jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    return fail(std::move(error));
  auto address = made->jit->lookup(kRowFunction);
  if (!address) return fail(address.takeError());
  made->function = address->toPtr<Function>();
  made->symbols = pool.symbolCount();
  made->roots = roots.size();
  return RowKernel(std::move(made));
}

}  // namespace tbem::jit
