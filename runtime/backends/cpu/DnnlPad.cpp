// The weight gradient of a convolution whose kernel is larger than its image, such as 3x3 on 2x2 with padding 1, with AVX2: the
// generated code of oneDNN 2.6.3 wants an image as large as the kernel at least, and what the library has instead takes the image
// apart and sums a gradient a thread (72 MiB of workspace for 512 channels). So the image is copied with its padding around it,
// which is small, and the gradient taken of that.
#include "runtime/backends/cpu/DnnlConv.h"
#include "runtime/backends/cpu/View.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tbem::cpu {
namespace {

using namespace onednn;

constexpr std::uint64_t kAlignment = 64;

/// The convolution without padding, of the image with its padding around it.
struct Padded {
  std::vector<tbem_operand> operands;  ///< the operator's own, with the larger image
  std::size_t image = 0;               ///< its operand
  std::vector<std::int64_t> attributes;
  Attempt convolution;
  dnnl_memory_desc_t inner{};  ///< where the image lies in the larger one
  Descriptor move;             ///< the image to there

  std::uint64_t imageBytes() const { return (operands[image].layout.bytes + kAlignment - 1) / kAlignment * kAlignment; }
  std::uint64_t workspace() const { return imageBytes() + std::max(convolution.descriptor.workspace(), move.workspace()); }
  tbem_op_desc describe(const tbem_op_desc& op) {
    tbem_op_desc larger = op;
    larger.operands = operands.data();
    larger.attributes = attributes.data();
    larger.attribute_count = static_cast<std::int32_t>(attributes.size());
    return larger;
  }
};

/// False where the library has no generated code for the larger image either. `op`'s layouts are fixed.
bool pad(const tbem_op_desc& op, Padded& padded) {
  const runtime::Conv2d c = runtime::conv2d(op);
  padded.operands.assign(op.operands, op.operands + op.inputs + op.outputs);
  padded.image = static_cast<std::size_t>(rolesOf(op).image);
  const tbem_operand& image = op.operands[padded.image];
  tbem_operand& larger = padded.operands[padded.image];
  larger.dims[2] += c.top + c.bottom, larger.dims[3] += c.left + c.right;
  setLike(larger, image);
  padded.attributes = {c.strideH, c.strideW, 0, 0, 0, 0, c.dilationH, c.dilationW, c.groups};
  padded.convolution = chooseLayouts(padded.describe(op));
  if (padded.convolution.rank < 2) return false;
  const dnnl_memory_desc_t whole = describeOperand(larger), small = describeOperand(image);
  const dnnl_dim_t dims[4] = {image.dims[0], image.dims[1], image.dims[2], image.dims[3]}, offsets[4] = {0, 0, c.top, c.left};
  if (dnnl_memory_desc_init_submemory(&padded.inner, &whole, dims, offsets) != dnnl_success) return false;
  padded.move = describeReorder(small, padded.inner, threadsOf(op));
  return static_cast<bool>(padded.move);
}

class PaddedConvolution final : public Op {
public:
  PaddedConvolution(const tbem_op_desc& from, const Padded& padded, std::unique_ptr<Op> move, std::unique_ptr<Op> convolution)
      : Op(from),
        image_(padded.image),
        imageBytes_(padded.imageBytes()),
        move_(std::move(move)),
        convolution_(std::move(convolution)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    void* const rest = static_cast<char*>(work) + imageBytes_;
    std::memset(work, 0, imageBytes_);
    void* const moved[3] = {memory[image_], work, nullptr};
    if (const tbem_status status = move_->run(moved, rest, nullptr)) return status;
    void* used[4] = {};
    std::copy(memory, memory + operands.size(), used);
    used[image_] = work;
    return convolution_->run(used, rest, nullptr);
  }

private:
  std::size_t image_;
  std::uint64_t imageBytes_;
  std::unique_ptr<Op> move_, convolution_;
};

}  // namespace

bool wantsPadding(const tbem_op_desc& op) {
  if (op.primitive != TBEM_PRIMITIVE_conv2d_weight_gradient || !isaText().starts_with("avx2")) return false;
  const runtime::Conv2d c = runtime::conv2d(op);
  return c.kh > c.h || c.kw > c.w;
}

tbem_status queryPadded(tbem_op_desc& op, tbem_op_info& info) {
  Padded padded;
  if (!fillAsForward(op) || !pad(op, padded)) return fail(TBEM_UNSUPPORTED, "cpu: oneDNN has no code for the padded image");
  info.workspace = padded.workspace();
  std::snprintf(info.implementation, sizeof info.implementation, "padded %s",
                std::string(padded.convolution.descriptor.implementation()).c_str());
  return TBEM_OK;
}

tbem_status createPadded(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  Padded padded;
  if (!pad(op, padded)) return fail(TBEM_UNSUPPORTED, "cpu: oneDNN has no code for the padded image");
  const tbem_op_desc larger = padded.describe(op);
  std::unique_ptr<Op> move, convolution;
  tbem_status status =
      makeOp(larger, padded.move,
             {{DNNL_ARG_FROM, 0, describeOperand(op.operands[padded.image])}, {DNNL_ARG_TO, 1, padded.inner}}, move);
  if (status == TBEM_OK)
    status =
        makeOp(larger, padded.convolution.descriptor, convolutionArguments(larger, padded.convolution.descriptor), convolution);
  if (status == TBEM_OK) out = std::make_unique<PaddedConvolution>(op, padded, std::move(move), std::move(convolution));
  return status;
}

}  // namespace tbem::cpu
