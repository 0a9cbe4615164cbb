// Arguments in the order in which PyTorch's modules take theirs, which begins with a size that a tensor has here by itself:
// `conv2d(x, 3, 64, 3)` is then one with 3 channels out, a kernel of 64 and a stride of 3.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/elaborate/Elaborator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::graph {

namespace {
/// What shows that a call is in PyTorch's order, beside its number that is the tensor's own size.
enum class Evidence : std::uint8_t {
  LargeKernel,  ///< a kernel that no convolution has, and a stride: a guess, as it has a meaning
  NoNumber,     ///< the number after it stands where none can: certain, whatever the size is
  Another,      ///< there is a number after it
  None          ///< no number as large as a size has a meaning there
};

struct Order {
  std::string_view name;
  std::string_view theirs;   ///< PyTorch's parameters
  bool last;                 ///< the size is the last dimension's, not the second's
  std::size_t position = 0;  ///< of the size among the parameters given by position
  Evidence evidence = Evidence::None;
};
constexpr std::string_view kConvolution = "in_channels, out_channels, kernel_size";
constexpr std::array<Order, 15> kOrders = {{
    {"batch_norm", "num_features", false, 0, Evidence::None},
    {"conv1d", kConvolution, false, 0, Evidence::LargeKernel},
    {"conv2d", kConvolution, false, 0, Evidence::LargeKernel},
    {"conv3d", kConvolution, false, 0, Evidence::NoNumber},
    {"conv_bn", kConvolution, false, 0, Evidence::LargeKernel},
    {"conv_bn_relu", kConvolution, false, 0, Evidence::LargeKernel},
    {"conv_transpose2d", kConvolution, false, 0, Evidence::LargeKernel},
    {"dense", "in_features, out_features", true, 0, Evidence::NoNumber},
    {"group_norm", "num_groups, num_channels", false, 1, Evidence::None},
    {"instance_norm", "num_features", false, 0, Evidence::None},
    {"layer_norm", "normalized_shape", true, 0, Evidence::None},
    {"multi_head_attention", "embed_dim, num_heads", true, 0, Evidence::NoNumber},
    {"rms_norm", "normalized_shape", true, 0, Evidence::None},
    {"squeeze_excitation", "input_channels, squeeze_channels", false, 0, Evidence::NoNumber},
    {"transformer_layer", "d_model, nhead", true, 0, Evidence::Another},
}};

const Order* orderOf(const ast::Callable& decl, const sema::Module& module) {
  if (module.name != "std.nn") return nullptr;
  const auto found = std::ranges::lower_bound(kOrders, std::string_view(decl.name.text), {}, &Order::name);
  return found != kOrders.end() && found->name == decl.name.text ? &*found : nullptr;
}

/// "out, kernel, stride": the declaration's first `count` parameters.
std::string namesOf(const ast::Callable& decl, std::size_t count) {
  std::string names;
  for (std::size_t i = 0; i < std::min(count, decl.parameters.size()); ++i)
    names += (i == 0 ? "" : ", ") + decl.parameters[i].name.text;
  return names;
}

constexpr std::int64_t kLargestKernel = 31;  // Ding et al. 2022, arXiv 2203.06717

/// Whether no convolution is known whose kernel and stride these are. Patches have kernel = stride, enlarging by interpolation
/// has kernel = 2 stride.
bool isNoKernel(std::int64_t kernel, std::int64_t stride, std::int64_t least) {
  return kernel >= least && stride < kernel && kernel != 2 * stride;
}
}  // namespace

bool Elaborator::inPyTorchOrder(const ast::Callable& decl, const sema::Module& module, const sema::Arguments& arguments,
                                const std::vector<sema::BoundArgument>& parameters) {
  const Order* order = orderOf(decl, module);
  if (order == nullptr) return false;
  std::vector<const sema::BoundArgument*> given;
  for (const sema::BoundArgument& one : parameters) {
    if (one.name.empty() && !one.value.isRuntime() && !one.value.is(ValueKind::None)) given.push_back(&one);
    if (one.name == "groups" && order->evidence == Evidence::LargeKernel) return false;  // a channel's own kernel may be large
  }
  if (given.size() <= order->position) return false;
  const auto number = [&](std::size_t at) -> std::optional<std::int64_t> {
    if (at >= given.size() || !given[at]->value.is(ValueKind::Number)) return std::nullopt;
    const std::optional<Rational> here = peek(given[at]->value.expr);
    return here && here->isInt() ? std::optional(here->num) : std::nullopt;
  };
  const std::optional<std::int64_t> size = number(order->position);
  const std::optional<std::int64_t> next = number(order->position + 1);
  if (!size) return false;

  // The tensor's own size, where a tensor is given; its expression may be one that other sizes have, too.
  std::optional<bool> same;
  bool known = false;
  const auto tensor =
      std::ranges::find_if(arguments.list, [](const sema::BoundArgument& one) { return one.value.is(ValueKind::Tensor); });
  if (tensor != arguments.list.end()) {
    const std::vector<ExprId>& shape = graph[static_cast<TensorId>(tensor->value.id)].shape;
    const std::size_t axis = order->last ? shape.size() - 1 : 1;
    if (axis >= shape.size()) return false;
    const std::optional<Rational> here = peek(shape[axis]);
    same = here == Rational::of(*size);
    known = pool.constantValue(shape[axis]).has_value();
  }
  switch (order->evidence) {
    case Evidence::NoNumber:
      if (!next || same == false) return false;
      break;
    case Evidence::Another:
      if (!next || same != true) return false;
      break;
    case Evidence::None:
      if (same != true || *size < 2) return false;
      break;
    case Evidence::LargeKernel: {
      const std::optional<std::int64_t> stride = number(2);
      const std::int64_t least = same == true ? (decl.name.text == "conv1d" ? 16 : 8) : kLargestKernel + 1;
      if (!next || !stride || !isNoKernel(*next, *stride, least) || (same == false && known)) return false;
      const SrcRange numbers = cover(given[0]->range, given[2]->range);
      if (told(diag::maybe_pytorch_order, numbers) == nullptr)
        annotate(sink.report(diag::maybe_pytorch_order, numbers, decl.name.text, *size, *next, *stride, order->theirs)
                     .note("input channels are not given here: the tensor has them. Parameters given by name are never meant so")
                     .fix({given[0]->range.begin, given[1]->range.begin}, ""));
      return false;
    }
  }
  const SrcRange range = given[order->position]->range;
  fail(diag::pytorch_order, range, decl.name.text, order->theirs, namesOf(decl, order->position + 2));
  Diagnostic* const report = told(diag::pytorch_order, range);
  if (report == nullptr || !report->notes.empty()) return true;
  report->note("this size is not given here: the tensor has it");
  if (order->position + 1 < given.size())
    report->fix({range.begin, given[order->position + 1]->range.begin}, "");
  else if (order->position > 0)
    report->fix({given[order->position - 1]->range.end, range.end}, "");
  return true;
}

}  // namespace tbem::graph
