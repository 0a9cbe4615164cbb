// A libcublasLt that multiplies matrices in plain loops, as NVIDIA's documentation says what cuBLASLt computes: column-major, D =
// op(A) op(B) + bias. What is asked of it has to fit: a matrix smaller than the product reads is an error, and so is a matrix
// that does not lie at multiples of the bytes that the algorithm was chosen for.
#include "test/standin/Run.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kInvalid = 7, kFailed = 13, kUnsupported = 15;

constexpr int kF32 = 0, kF16 = 2, kBf16 = 14;
constexpr int kCompute = 68, kComputeTf32 = 77;

struct Matrix {
  int type;
  std::int64_t rows, columns, leading, stride;
  std::int32_t count;
};
struct Description {
  int compute = kCompute;
  std::int32_t transposeA = 0, transposeB = 0;
  std::uint32_t epilogue = 1;
  const void* bias = nullptr;
};
struct Preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = 7;
  std::array<std::uint32_t, 4> alignment{256, 256, 256, 256};
};
struct Answer {
  std::array<std::uint64_t, 8> algorithm;
  std::size_t workspace;
  int state;
  float waves;
  std::array<int, 4> reserved;
};

int multiplied = 0;

template <class Value>
int take(Value& value, const void* from, std::size_t bytes) {
  if (bytes != sizeof value) return kInvalid;
  std::memcpy(&value, from, bytes);
  return 0;
}

/// Rows and columns as the product reads them.
std::array<std::int64_t, 2> shape(const Matrix& matrix, std::int32_t transposed) {
  return transposed != 0 ? std::array{matrix.columns, matrix.rows} : std::array{matrix.rows, matrix.columns};
}

bool fits(const Description& description, const Matrix& a, const Matrix& b, const Matrix& d) {
  const auto left = shape(a, description.transposeA), right = shape(b, description.transposeB);
  return left[0] == d.rows && right[1] == d.columns && left[1] == right[0] && a.count == d.count && b.count == d.count;
}

/// Factors of one type; the result of theirs, or f32.
bool typesFit(const Matrix& a, const Matrix& b, const Matrix& d) {
  return a.type == b.type && (d.type == a.type || d.type == kF32);
}

/// As a product takes a matrix.
tbem::standin::Type typeOf(const Matrix& matrix, int compute = kCompute) {
  if (matrix.type == kF16) return tbem::standin::Type::F16;
  if (matrix.type == kBf16) return tbem::standin::Type::Bf16;
  return compute == kComputeTf32 ? tbem::standin::Type::Tf32 : tbem::standin::Type::F32;
}

/// Bytes of an element of a matrix.
std::uint32_t bytesOf(const Matrix& matrix) { return matrix.type == kF32 ? 4 : 2; }

/// Cards before 8.0 have neither bf16 nor TF32, which is of f32 factors alone.
bool computes(const Description& description, const Matrix& factor) {
  const char* const card = std::getenv("TBEM_CARD_SM");
  const bool isOld = card != nullptr && std::atof(card) < 8;
  if (description.compute == kComputeTf32 && factor.type != kF32) return false;
  return !isOld || (description.compute == kCompute && factor.type != kBf16);
}

bool lies(const void* address, std::uint64_t alignment) { return reinterpret_cast<std::uintptr_t>(address) % alignment == 0; }

}  // namespace

extern "C" {

/// How often a product was computed.
int standin_multiplied() { return multiplied; }

std::size_t cublasLtGetVersion() { return 130100; }
const char* cublasLtGetStatusName(int status) {
  return status == kInvalid ? "INVALID_VALUE" : status == kFailed ? "EXECUTION_FAILED" : "NOT_SUPPORTED";
}
int cublasLtCreate(void** handle) {
  static int here = 0;
  *handle = &here;
  return 0;
}

int cublasLtMatmulDescCreate(void** description, int compute, int scale) {
  *description = new Description{.compute = compute};
  return (compute == kCompute || compute == kComputeTf32) && scale == kF32 ? 0 : kUnsupported;
}
int cublasLtMatmulDescSetAttribute(void* description, int attribute, const void* value, std::size_t bytes) {
  auto& it = *static_cast<Description*>(description);
  if (attribute == 3) return take(it.transposeA, value, bytes);
  if (attribute == 4) return take(it.transposeB, value, bytes);
  if (attribute == 7) return take(it.epilogue, value, bytes);
  return attribute == 8 ? take(it.bias, value, bytes) : kInvalid;
}
int cublasLtMatmulDescDestroy(void* description) {
  delete static_cast<Description*>(description);
  return 0;
}

int cublasLtMatrixLayoutCreate(void** layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t leading) {
  *layout = new Matrix{type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), leading, 0, 1};
  return (type == kF32 || type == kF16 || type == kBf16) && leading >= static_cast<std::int64_t>(rows) ? 0 : kInvalid;
}
int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value, std::size_t bytes) {
  auto& it = *static_cast<Matrix*>(layout);
  return attribute == 5 ? take(it.count, value, bytes) : attribute == 6 ? take(it.stride, value, bytes) : kInvalid;
}
int cublasLtMatrixLayoutDestroy(void* layout) {
  delete static_cast<Matrix*>(layout);
  return 0;
}

int cublasLtMatmulPreferenceCreate(void** preference) {
  *preference = new Preference;
  return 0;
}
int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value, std::size_t bytes) {
  auto& it = *static_cast<Preference*>(preference);
  if (attribute == 1) return take(it.workspace, value, bytes);
  if (attribute == 3) return take(it.reductions, value, bytes);
  if (attribute < 5 || attribute > 8) return kInvalid;
  return take(it.alignment[static_cast<std::size_t>(attribute - 5)], value, bytes);
}
int cublasLtMatmulPreferenceDestroy(void* preference) {
  delete static_cast<Preference*>(preference);
  return 0;
}

/// The algorithm's first numbers are what the factors, and the result and the bias, are aligned to.
int cublasLtMatmulAlgoGetHeuristic(void*, void* description, void* a, void* b, void* c, void* d, void* preference, int asked,
                                   Answer* answers, int* answered) {
  const auto& it = *static_cast<Description*>(description);
  const auto& wish = *static_cast<Preference*>(preference);
  const bool biased = it.epilogue == 4;
  *answered = 0;
  if (asked < 1 || (wish.reductions & 1U) != 0) return kUnsupported;  // a sum whose order is not fixed may be chosen
  if (!fits(it, *static_cast<Matrix*>(a), *static_cast<Matrix*>(b), *static_cast<Matrix*>(d)) || c == nullptr) return kInvalid;
  const Matrix &left = *static_cast<Matrix*>(a), &right = *static_cast<Matrix*>(b), &out = *static_cast<Matrix*>(d);
  if (!typesFit(left, right, out) || !computes(it, left)) return kUnsupported;
  if (std::memcmp(c, d, sizeof out) != 0) return kUnsupported;  // of other layouts there are few products
  for (std::size_t k = 0; k < wish.alignment.size(); ++k) {
    if (wish.alignment[k] < bytesOf(k == 0 ? left : k == 1 ? right : out)) return kUnsupported;
  }
  if (biased && !lies(it.bias, wish.alignment[3])) return kUnsupported;
  answers[0] = {{wish.alignment[0], wish.alignment[1], wish.alignment[3]}, wish.workspace, 0, 1, {}};
  *answered = 1;
  return 0;
}

int cublasLtMatmul(void*, void* description, const void* alpha, const void* a, void* aLayout, const void* b, void* bLayout,
                   const void* beta, const void*, void*, void* d, void* dLayout, const std::uint64_t* algorithm, void* workspace,
                   std::size_t bytes, void* stream) {
  const auto& it = *static_cast<Description*>(description);
  const Matrix &left = *static_cast<Matrix*>(aLayout), &right = *static_cast<Matrix*>(bLayout),
               &out = *static_cast<Matrix*>(dLayout);
  if (!fits(it, left, right, out) || !typesFit(left, right, out) || *static_cast<const float*>(alpha) != 1) return kInvalid;
  const void* const bias = it.epilogue == 4 ? it.bias : nullptr;  // of the result's type
  if (!lies(a, algorithm[0]) || !lies(b, algorithm[1]) || !lies(d, algorithm[2]) || !lies(bias, algorithm[2])) return kInvalid;
  if (bytes > 0 && (!lies(workspace, 256) || !tbem::standin::spoil(workspace, bytes, stream).fine())) return kFailed;
  const tbem::standin::ProductWork work{{a, typeOf(left, it.compute), left.leading, left.stride, it.transposeA},
                                        {b, typeOf(right, it.compute), right.leading, right.stride, it.transposeB},
                                        bias,
                                        d,
                                        typeOf(out),
                                        out.leading,
                                        out.stride,
                                        out.rows,
                                        out.columns,
                                        shape(left, it.transposeA)[1],
                                        out.count,
                                        *static_cast<const float*>(beta)};
  if (!tbem::standin::run(work, stream).fine()) return kFailed;
  ++multiplied;
  return 0;
}

}  // extern "C"
