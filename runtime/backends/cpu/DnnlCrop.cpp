// The input gradient of a convolution whose kernel reaches beyond its image: a 3x3 kernel on an image of one pixel with padding 1
// uses one tap of nine. The used taps are cut out of the weight, in the layout that the gradient wants, into the workspace; so
// the weight is taken as forward has it, and what is never used is not moved.
#include "runtime/backends/cpu/DnnlConv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace tbem::cpu {
namespace {

using namespace onednn;

constexpr std::uint64_t kAlignment = 64;

/// The taps [first, first + count) of one dimension that meet the image at some place, and the padding that is left before and
/// behind it.
struct Taps {
  std::int64_t first, count, before, behind;
};

Taps tapsOf(std::int64_t image, std::int64_t result, std::int64_t kernel, std::int64_t stride, std::int64_t dilation,
            std::int64_t pad) {
  const auto used = [&](std::int64_t tap) {
    for (std::int64_t o = 0; o < result; ++o) {
      const std::int64_t at = o * stride - pad + tap * dilation;
      if (at >= 0 && at < image) return true;
    }
    return false;
  };
  Taps taps{0, kernel, pad, 0};
  while (taps.count > 1 && !used(taps.first)) ++taps.first, --taps.count;
  while (taps.count > 1 && !used(taps.first + taps.count - 1)) --taps.count;
  taps.before = pad - taps.first * dilation;
  taps.behind = (result - 1) * stride + (taps.count - 1) * dilation + 1 - image - taps.before;
  return taps;
}

/// The smaller convolution and what cuts its weight out.
struct Cropped {
  std::array<tbem_operand, 3> operands;  ///< dy, the cut weight, dx
  std::vector<std::int64_t> attributes;
  Attempt gradient;
  dnnl_memory_desc_t from{};
  Descriptor cut;

  std::uint64_t weightBytes() const { return (operands[1].layout.bytes + kAlignment - 1) / kAlignment * kAlignment; }
  std::uint64_t workspace() const { return weightBytes() + std::max(gradient.descriptor.workspace(), cut.workspace()); }
  tbem_op_desc describe(const tbem_op_desc& op) {
    tbem_op_desc small = op;
    small.operands = operands.data();
    small.attributes = attributes.data();
    small.attribute_count = static_cast<std::int32_t>(attributes.size());
    small.algorithm = static_cast<std::int32_t>(ConvAlgorithm::Direct);
    return small;
  }
};

/// False where nothing can be cut, or the library has no generated code for what is left. `op`'s layouts are fixed.
bool crop(const tbem_op_desc& op, Cropped& cropped) {
  const runtime::Conv2d c = runtime::conv2d(op);
  if (op.primitive != TBEM_PRIMITIVE_conv2d_input_gradient || c.groups != 1) return false;
  const Taps h = tapsOf(c.h, c.oh, c.kh, c.strideH, c.dilationH, c.top),
             w = tapsOf(c.w, c.ow, c.kw, c.strideW, c.dilationW, c.left);
  if (h.count * w.count == c.kh * c.kw || std::min({h.before, h.behind, w.before, w.behind}) < 0) return false;
  cropped.operands = {op.operands[0], op.operands[1], op.operands[2]};
  tbem_operand& weight = cropped.operands[1];
  weight.dims[2] = h.count, weight.dims[3] = w.count;
  weight.layout = {};
  weight.layout.any = 1;
  cropped.attributes = {c.strideH, c.strideW, h.before, w.before, h.behind, w.behind, c.dilationH, c.dilationW, 1};
  cropped.gradient = chooseLayouts(cropped.describe(op));
  if (cropped.gradient.rank < 2) return false;
  weight = cropped.gradient.operands[1];
  const dnnl_memory_desc_t whole = describeOperand(op.operands[1]), to = describeOperand(weight);
  const dnnl_dim_t dims[4] = {weight.dims[0], weight.dims[1], weight.dims[2], weight.dims[3]},
                   offsets[4] = {0, 0, h.first, w.first};
  if (dnnl_memory_desc_init_submemory(&cropped.from, &whole, dims, offsets) != dnnl_success) return false;
  cropped.cut = describeReorder(cropped.from, to, threadsOf(op));
  return static_cast<bool>(cropped.cut);
}

class CroppedGradient final : public Op {
public:
  CroppedGradient(const tbem_op_desc& from, std::unique_ptr<Op> first, std::unique_ptr<Op> second, std::uint64_t bytes)
      : Op(from), cut_(std::move(first)), gradient_(std::move(second)), weightBytes_(bytes) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    void* rest = static_cast<char*>(work) + weightBytes_;
    void* const cut[3] = {memory[1], work, nullptr};  // of the size of the next: GCC 12 takes one for the other
    void* const gradient[3] = {memory[0], work, memory[2]};
    if (const tbem_status status = cut_->run(cut, rest, nullptr)) return status;
    return gradient_->run(gradient, rest, nullptr);
  }

private:
  std::unique_ptr<Op> cut_, gradient_;
  std::uint64_t weightBytes_;
};

}  // namespace

tbem_status queryCropped(tbem_op_desc& op, tbem_op_info& info) {
  Cropped cropped;
  if (!fillAsForward(op) || !crop(op, cropped))
    return fail(TBEM_UNSUPPORTED, "cpu: every tap of this convolution meets its image");
  info.workspace = cropped.workspace();
  std::snprintf(info.implementation, sizeof info.implementation, "cropped %s",
                std::string(cropped.gradient.descriptor.implementation()).c_str());
  return TBEM_OK;
}

tbem_status createCropped(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  Cropped cropped;
  if (!crop(op, cropped)) return fail(TBEM_UNSUPPORTED, "cpu: every tap of this convolution meets its image");
  const tbem_op_desc small = cropped.describe(op);
  std::unique_ptr<Op> cut, gradient;
  tbem_status status =
      makeOp(small, cropped.cut, {{DNNL_ARG_FROM, 0, cropped.from}, {DNNL_ARG_TO, 1, describeOperand(cropped.operands[1])}}, cut);
  if (status == TBEM_OK)
    status = makeOp(small, cropped.gradient.descriptor, convolutionArguments(small, cropped.gradient.descriptor), gradient);
  if (status == TBEM_OK) out = std::make_unique<CroppedGradient>(op, std::move(cut), std::move(gradient), cropped.weightBytes());
  return status;
}

}  // namespace tbem::cpu
