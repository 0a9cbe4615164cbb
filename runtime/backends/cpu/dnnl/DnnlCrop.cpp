// A convolution, or a gradient of one, whose kernel reaches beyond its image: a 3x3 kernel on an image of one pixel with padding
// 1 uses one tap of nine. The used taps are cut out of the weight, in the layout that the smaller problem wants, into the
// workspace; a weight gradient is computed there, and put into one of zeros. So the weight keeps the layout that forward gave it,
// and what is never used is not moved.
#include "runtime/backends/cpu/dnnl/DnnlReplaced.h"
#include "runtime/backends/cpu/ops/Parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tbem::cpu {
namespace {

using namespace onednn;

/// The taps [first, first + count) of one dimension that meet the image at some place, and the padding that is left before and
/// behind it.
struct Taps {
  std::int64_t first, count, before, behind;
};

/// Whether a tap meets the image.
bool meets(std::int64_t tap, std::int64_t image, std::int64_t result, std::int64_t stride, std::int64_t dilation,
           std::int64_t pad) {
  for (std::int64_t o = 0; o < result; ++o) {
    const std::int64_t at = o * stride - pad + tap * dilation;
    if (at >= 0 && at < image) return true;
  }
  return false;
}

Taps tapsOf(std::int64_t image, std::int64_t result, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
            std::int64_t pad) {
  const auto used = [&](std::int64_t tap) { return meets(tap, image, result, stride, dilation, pad); };
  Taps taps{0, kernel, pad, 0};
  while (taps.count > 1 && !used(taps.first)) ++taps.first, --taps.count;
  while (taps.count > 1 && !used(taps.first + taps.count - 1)) --taps.count;
  taps.before = pad - taps.first * dilation;
  taps.behind = (result - 1) * stride + (taps.count - 1) * dilation + 1 - image - taps.before;
  return taps;
}

bool writesWeight(const tbem_op_desc& op) { return op.primitive == TBEM_PRIMITIVE_conv2d_weight_gradient; }

/// False where nothing can be cut, or the library has no generated code for what is left. `op`'s layouts are fixed.
bool crop(const tbem_op_desc& op, Replaced& cropped) {
  const runtime::Conv2d c = runtime::conv2d(op);
  if (c.groups != 1) return false;
  const Taps h = tapsOf(c.h, c.oh, c.kh, c.strideH, c.dilationH, c.top),
             w = tapsOf(c.w, c.ow, c.kw, c.strideW, c.dilationW, c.left);
  if (h.count * w.count == c.kh * c.kw || std::min({h.before, h.behind, w.before, w.behind}) < 0) return false;
  cropped.operands.assign(op.operands, op.operands + op.inputs + op.outputs);
  cropped.copy = static_cast<std::size_t>(rolesOf(op).weight);
  tbem_operand& weight = cropped.operands[cropped.copy];
  weight.dims[2] = h.count, weight.dims[3] = w.count;
  weight.layout = {};
  weight.layout.any = 1;
  cropped.attributes = {c.strideH, c.strideW, h.before, w.before, h.behind, w.behind, c.dilationH, c.dilationW, 1};
  cropped.convolution = chooseLayouts(cropped.describe(op));
  if (cropped.convolution.rank < 2) return false;
  weight = cropped.convolution.operands[cropped.copy];
  const dnnl_memory_desc_t whole = describeOperand(op.operands[cropped.copy]);
  const dnnl_dim_t dims[4] = {weight.dims[0], weight.dims[1], weight.dims[2], weight.dims[3]},
                   offsets[4] = {0, 0, h.first, w.first};
  cropped.from = cropped.to = describeOperand(weight);
  dnnl_memory_desc_t& used = writesWeight(op) ? cropped.to : cropped.from;  // the used taps in the whole weight
  if (dnnl_memory_desc_init_submemory(&used, &whole, dims, offsets) != dnnl_success) return false;
  cropped.move = describeReorder(cropped.from, cropped.to, threadsOf(op));
  return static_cast<bool>(cropped.move);
}

/// Zeros, by all threads: a weight gradient is larger than the caches.
void clear(int threads, void* data, std::uint64_t bytes) {
  constexpr std::uint64_t kPiece = 1 << 18;
  const auto pieces = static_cast<std::int64_t>((bytes + kPiece - 1) / kPiece);
  parallelFor(threads, pieces, static_cast<std::int64_t>(bytes / sizeof(float)), [&](std::int64_t i) {
    const std::uint64_t from = static_cast<std::uint64_t>(i) * kPiece;
    std::memset(static_cast<char*>(data) + from, 0, std::min(kPiece, bytes - from));
  });
}

class CroppedConvolution final : public Op {
public:
  CroppedConvolution(const tbem_op_desc& from, const Replaced& cropped, std::unique_ptr<Op> move, std::unique_ptr<Op> convolution)
      : Op(from),
        weight_(cropped.copy),
        weightBytes_(cropped.copyBytes()),
        move_(std::move(move)),
        convolution_(std::move(convolution)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    void* const rest = static_cast<char*>(work) + weightBytes_;
    void* used[4] = {};
    std::copy(memory, memory + operands.size(), used);
    used[weight_] = work;
    if (!writesWeight(desc)) {
      if (const tbem_status status = runMove(*move_, memory[weight_], work, rest)) return status;
      return convolution_->run(used, rest, nullptr);
    }
    if (const tbem_status status = convolution_->run(used, rest, nullptr)) return status;
    clear(threads, memory[weight_], operands[weight_].layout.bytes);
    return runMove(*move_, work, memory[weight_], rest);
  }

private:
  std::size_t weight_;
  std::uint64_t weightBytes_;
  std::unique_ptr<Op> move_, convolution_;
};

}  // namespace

bool meetsEveryTap(const runtime::Conv2d& c) {
  for (std::int64_t tap = 0; tap < c.kh; ++tap) {
    if (!meets(tap, c.h, c.oh, c.strideH, c.dilationH, c.top)) return false;
  }
  for (std::int64_t tap = 0; tap < c.kw; ++tap) {
    if (!meets(tap, c.w, c.ow, c.strideW, c.dilationW, c.left)) return false;
  }
  return true;
}

tbem_status queryCropped(tbem_op_desc& op, tbem_op_info& info) {
  Replaced cropped;
  if (!fillAsForward(op) || !crop(op, cropped))
    return fail(TBEM_UNSUPPORTED, "cpu: every tap of this convolution meets its image");
  info.workspace = cropped.workspace();
  std::snprintf(info.implementation, sizeof info.implementation, "cropped %s",
                std::string(cropped.convolution.descriptor.implementation()).c_str());
  return TBEM_OK;
}

tbem_status createCropped(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  Replaced cropped;
  if (!crop(op, cropped)) return fail(TBEM_UNSUPPORTED, "cpu: every tap of this convolution meets its image");
  std::unique_ptr<Op> move, convolution;
  const tbem_status status = makeParts(op, cropped, move, convolution);
  if (status == TBEM_OK) out = std::make_unique<CroppedConvolution>(op, cropped, std::move(move), std::move(convolution));
  return status;
}

}  // namespace tbem::cpu
