#include "runtime/backends/cuda/libraries/Blas.h"

#include "runtime/backends/cuda/device/Device.h"
#include "runtime/backends/cuda/device/Ledger.h"
#include "runtime/backends/cuda/libraries/Cudnn.h"
#include "runtime/cudnn/Places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <dlfcn.h>

#include <filesystem>
#include <optional>
#include <utility>

namespace tbem::cuda {

namespace {

struct Library {
  blas::Functions functions;
  std::string why;  ///< it cannot be used; "": it can
};

constexpr std::uint32_t kAligned = 16;  // bytes: what the widest loads of a thread want

int typeOf(std::int32_t type) { return type == TBEM_BF16 ? blas::kTypeBf16 : type == TBEM_F16 ? blas::kTypeF16 : blas::kTypeF32; }

std::uint32_t bytesOf(std::int32_t type) { return static_cast<std::uint32_t>(runtime::elementBytes(type)); }
constexpr std::array<const char*, 2> kNames{"libcublasLt.so.13", "libcublasLt.so.12"};

/// The library that this process has already (cuDNN's, PyTorch's), else that beside cuDNN or of a usual place, else what the
/// system's loader finds.
void* openFile(std::string& why) {
  for (const char* name : kNames) {
    if (void* already = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return already;
  }
  std::vector<std::string> places = cudnn::cublasPlaces();
  if (const std::string path = cudnnPath(); !path.empty())
    places.insert(places.begin(), std::filesystem::path(path).parent_path().string());
  cudnn::OpenedFile file = cudnn::openFirst(kNames, places, [](void*) { return true; });
  if (file.handle != nullptr) return file.handle;
  why = std::move(file.why);
  for (const char* name : kNames) {
    if (void* opened = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return opened;
  }
  if (why.empty()) {
    why = fmt::format("there is no {} in {}; matrix products need cuBLAS of CUDA 12 or 13", fmt::join(kNames, " and no "),
                      fmt::join(places, ", "));
  }
  return nullptr;
}

Library open() {
  Library library;
  void* opened = openFile(library.why);
  if (opened == nullptr) return library;
  library.why.clear();
#define TBEM_BLAS_FUNCTION(result, name, symbol, parameters)                                            \
  library.functions.name = reinterpret_cast<decltype(library.functions.name)>(::dlsym(opened, symbol)); \
  if (library.functions.name == nullptr && library.why.empty()) library.why = fmt::format("cuBLASLt has no {}", symbol);
#include "runtime/backends/cuda/libraries/blas.def"
#undef TBEM_BLAS_FUNCTION
  return library;
}

const Library& library() {
  static const Library kOpened = open();
  return kOpened;
}

struct Handle {
  void* handle = nullptr;
  std::string why;
};

std::string words(blas::Status status, const char* what) {
  return fmt::format("cuBLASLt refuses {}: {}", what, library().functions.statusName(status));
}

/// Made when it is first asked for, on a thread where the device is open; of use to all threads.
const Handle& handle() {
  static const Handle kMade = [] {
    Handle made;
    std::optional<Booking> booking;
    if (const auto device = openDevice()) booking.emplace(**device, &Ledger::handles);
    if (const blas::Status status = library().functions.create(&made.handle); status != 0) made.why = words(status, "the card");
    return made;
  }();
  return kMade;
}

/// Collects the first failure, so that a description is written without a check behind every line.
struct Calls {
  std::string why;
  void operator()(blas::Status status, const char* what) {
    if (status != 0 && why.empty()) why = words(status, what);
  }
};

}  // namespace

std::string blasVersion() {
  if (!library().why.empty()) return {};
  const std::size_t version = library().functions.version();
  return fmt::format("cuBLASLt {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

PreparedProduct::PreparedProduct(ProductShape shape, std::uint64_t workspace, bool bias, std::array<void*, 4> parts)
    : product(std::move(shape)),
      workspace(workspace),
      biased(bias),
      description(parts[0], library().functions.descriptionDestroy),
      a(parts[1], library().functions.layoutDestroy),
      b(parts[2], library().functions.layoutDestroy),
      y(parts[3], library().functions.layoutDestroy) {}

tl::expected<PreparedProduct, std::string> PreparedProduct::prepare(const ProductShape& shape, std::uint64_t workspace) {
  if (!library().why.empty()) return tl::unexpected(library().why);
  if (!handle().why.empty()) return tl::unexpected(handle().why);
  if (shape.bias >= 0) {
    if (auto withBias = prepare(shape, workspace, true)) return withBias;
  }
  return prepare(shape, workspace, false);
}

tl::expected<PreparedProduct, std::string> PreparedProduct::prepare(const ProductShape& shape, std::uint64_t workspace,
                                                                    bool bias) {
  const blas::Functions& f = library().functions;
  Calls calls;
  void *description = nullptr, *a = nullptr, *b = nullptr, *y = nullptr;
  // Row-major y = op(a) op(b) is column-major y^T = op(b)^T op(a)^T: the library's first factor is b, its second a, and a matrix
  // as it lies is the transpose of what we call it.
  const auto layout = [&](void*& made, std::int32_t type, std::int64_t rows, std::int64_t columns, std::int64_t lead,
                          std::int64_t stride) {
    calls(f.layoutCreate(&made, typeOf(type), static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(rows),
                         lead != 0 ? lead : columns),
          "a matrix");
    if (made == nullptr || shape.batch.count == 1) return;
    const auto count = static_cast<std::int32_t>(shape.batch.count);
    calls(f.layoutSet(made, blas::kBatchCount, &count, sizeof count), "a number of matrices");
    calls(f.layoutSet(made, blas::kBatchStride, &stride, sizeof stride), "a distance of matrices");
  };
  calls(f.descriptionCreate(&description, shape.tf32 ? blas::kComputeTf32 : blas::kComputeF32, blas::kTypeF32), "a product");
  layout(a, shape.factors, shape.transposeA ? shape.k : shape.m, shape.transposeA ? shape.m : shape.k, shape.leadA,
         shape.batch.a);
  layout(b, shape.factors, shape.transposeB ? shape.n : shape.k, shape.transposeB ? shape.k : shape.n, shape.leadB,
         shape.batch.b);
  layout(y, shape.result, shape.m, shape.n, 0, shape.batch.y);
  PreparedProduct made(shape, workspace, bias, {description, a, b, y});
  if (calls.why.empty()) {
    const std::int32_t first = shape.transposeB ? blas::kTransposed : blas::kPlain;
    const std::int32_t second = shape.transposeA ? blas::kTransposed : blas::kPlain;
    calls(f.descriptionSet(description, blas::kTransposeA, &first, sizeof first), "a transposition");
    calls(f.descriptionSet(description, blas::kTransposeB, &second, sizeof second), "a transposition");
    if (bias) calls(f.descriptionSet(description, blas::kEpilogue, &blas::kAddBias, sizeof blas::kAddBias), "a bias");
  }
  if (!calls.why.empty()) return tl::unexpected(calls.why);
  made.aligned = made.choose({kAligned, kAligned}, calls.why);
  if (!made.aligned) return tl::unexpected(calls.why);
  std::string ignored;
  made.anywhere = made.choose({bytesOf(shape.factors), bytesOf(shape.result)}, ignored);
  return made;
}

std::optional<blas::Algorithm> PreparedProduct::choose(const Alignment& alignment, std::string& why) const {
  const blas::Functions& f = library().functions;
  Calls calls;
  void* preference = nullptr;
  calls(f.preferenceCreate(&preference), "a preference");
  const Part owner(preference, f.preferenceDestroy);
  if (preference == nullptr) {
    why = calls.why;
    return std::nullopt;
  }
  const auto prefer = [&](int attribute, auto value) {
    calls(f.preferenceSet(preference, attribute, &value, sizeof value), "a preference");
  };
  prefer(blas::kMostWorkspace, workspace);
  prefer(blas::kReductions, blas::kInComputeType | blas::kInOutputType);
  for (const int matrix : {blas::kAlignA, blas::kAlignB}) prefer(matrix, alignment.factors);
  for (const int matrix : {blas::kAlignC, blas::kAlignD}) prefer(matrix, alignment.result);
  if (biased) {  // its address is looked at for its alignment alone
    const std::uint64_t address = alignment.result;
    calls(f.descriptionSet(description.get(), blas::kBiasPointer, &address, sizeof address), "a bias");
  }
  blas::Heuristic answer{};
  int answers = 0;
  if (calls.why.empty()) {
    calls(f.heuristics(handle().handle, description.get(), b.get(), a.get(), y.get(), y.get(), preference, 1, &answer, &answers),
          "a product");
  }
  if (calls.why.empty() && answers > 0) calls(answer.state, "a product");
  if (calls.why.empty() && answers > 0 && answer.workspace <= workspace) return answer.algorithm;
  why = !calls.why.empty() ? calls.why : "cuBLASLt has no deterministic algorithm for a product of these sizes";
  return std::nullopt;
}

std::string PreparedProduct::run(const Device& device, const Addresses& at) const {
  const blas::Functions& f = library().functions;
  const auto lies = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kAligned == 0; };
  const bool everywhere = lies(at.a) && lies(at.b) && lies(at.y) && (!biased || lies(at.bias));
  const std::optional<blas::Algorithm>& algorithm = everywhere ? aligned : anywhere;
  if (!algorithm) return fmt::format("cuBLASLt has no product of matrices that do not lie at multiples of {} bytes", kAligned);
  if (biased) {
    if (const blas::Status status = f.descriptionSet(description.get(), blas::kBiasPointer, &at.bias, sizeof at.bias))
      return words(status, "a bias");
  }
  constexpr float kOne = 1, kZero = 0;
  const blas::Status status =
      f.multiply(handle().handle, description.get(), &kOne, at.b, b.get(), at.a, a.get(), at.adds ? &kOne : &kZero, at.y, y.get(),
                 at.y, y.get(), &*algorithm, workspace == 0 ? nullptr : at.work, workspace, device.stream);
  return status == 0 ? std::string() : words(status, "to run a product");
}

}  // namespace tbem::cuda
