// The weight gradient of a convolution whose kernel is larger than its image, such as 3x3 on 2x2 with padding 1, with AVX2: the
// generated code of oneDNN 2.6.3 wants an image as large as the kernel at least, and what the library has instead takes the image
// apart and sums a gradient a thread (72 MiB of workspace for 512 channels). So the image is copied with its padding around it,
// which is small, and the gradient taken of that.
#include "runtime/backends/cpu/dnnl/DnnlReplaced.h"
#include "runtime/backends/cpu/ops/View.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tbem::cpu {
namespace {

using namespace onednn;

/// False where the library has no generated code for the larger image either. `op`'s layouts are fixed.
bool pad(const tbem_op_desc& op, Replaced& padded) {
  const runtime::Conv2d c = runtime::conv2d(op);
  padded.operands.assign(op.operands, op.operands + op.inputs + op.outputs);
  padded.copy = static_cast<std::size_t>(rolesOf(op).image);
  const tbem_operand& image = op.operands[padded.copy];
  tbem_operand& larger = padded.operands[padded.copy];
  larger.dims[2] += c.top + c.bottom, larger.dims[3] += c.left + c.right;
  setLike(larger, image);
  padded.attributes = {c.strideH, c.strideW, 0, 0, 0, 0, c.dilationH, c.dilationW, c.groups};
  padded.convolution = chooseLayouts(padded.describe(op));
  if (padded.convolution.rank < 2) return false;
  padded.from = describeOperand(image);
  const dnnl_memory_desc_t whole = describeOperand(larger);
  const dnnl_dim_t dims[4] = {image.dims[0], image.dims[1], image.dims[2], image.dims[3]}, offsets[4] = {0, 0, c.top, c.left};
  if (dnnl_memory_desc_init_submemory(&padded.to, &whole, dims, offsets) != dnnl_success) return false;
  padded.move = describeReorder(padded.from, padded.to, threadsOf(op));
  return static_cast<bool>(padded.move);
}

class PaddedConvolution final : public Op {
public:
  PaddedConvolution(const tbem_op_desc& from, const Replaced& padded, std::unique_ptr<Op> move, std::unique_ptr<Op> convolution)
      : Op(from),
        image_(padded.copy),
        imageBytes_(padded.copyBytes()),
        move_(std::move(move)),
        convolution_(std::move(convolution)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    void* const rest = static_cast<char*>(work) + imageBytes_;
    std::memset(work, 0, imageBytes_);
    if (const tbem_status status = runMove(*move_, memory[image_], work, rest)) return status;
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
  return op.algorithm == static_cast<std::int32_t>(ConvAlgorithm::Direct) && (c.kh > c.h || c.kw > c.w);
}

tbem_status queryPadded(tbem_op_desc& op, tbem_op_info& info) {
  std::vector<tbem_operand> operands(op.operands, op.operands + op.inputs + op.outputs);
  tbem_op_desc filled = op;
  filled.operands = operands.data();
  Replaced padded;
  if (!fillAsForward(filled) || !pad(filled, padded))
    return fail(TBEM_UNSUPPORTED, "cpu: oneDNN has no code for the padded image");
  std::copy(operands.begin(), operands.end(), op.operands);
  info.workspace = padded.workspace();
  std::snprintf(info.implementation, sizeof info.implementation, "padded %s",
                std::string(padded.convolution.descriptor.implementation()).c_str());
  return TBEM_OK;
}

tbem_status createPadded(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  Replaced padded;
  if (!pad(op, padded)) return fail(TBEM_UNSUPPORTED, "cpu: oneDNN has no code for the padded image");
  std::unique_ptr<Op> move, convolution;
  const tbem_status status = makeParts(op, padded, move, convolution);
  if (status == TBEM_OK) out = std::make_unique<PaddedConvolution>(op, padded, std::move(move), std::move(convolution));
  return status;
}

}  // namespace tbem::cpu
