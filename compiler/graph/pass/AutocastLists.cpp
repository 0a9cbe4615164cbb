#include "compiler/graph/pass/AutocastLists.h"

#include <algorithm>

namespace tbem::graph {

namespace {

struct Listed {
  std::string_view name;
  AutocastList cuda, cpu;
};

constexpr Listed kListed[] = {
    {"layer_norm", AutocastList::Widened, AutocastList::Follows},
    {"norm_channels", AutocastList::Widened, AutocastList::Follows},
    {"group_norm", AutocastList::Widened, AutocastList::Follows},
    {"rms_norm", AutocastList::Widened, AutocastList::Follows},
    {"batch_norm", AutocastList::Follows, AutocastList::Follows},
    {"instance_norm", AutocastList::Follows, AutocastList::Follows},
    {"softmax", AutocastList::Widened, AutocastList::Follows},
    {"log_softmax", AutocastList::Widened, AutocastList::Follows},
    {"scaled_dot_product_attention", AutocastList::Follows, AutocastList::Follows},
    {"masked_attention", AutocastList::Follows, AutocastList::Follows},
    {"exp", AutocastList::Widened, AutocastList::Follows},
    {"expm1", AutocastList::Widened, AutocastList::Follows},
    {"log", AutocastList::Widened, AutocastList::Follows},
    {"log1p", AutocastList::Widened, AutocastList::Follows},
    {"rsqrt", AutocastList::Widened, AutocastList::Follows},
    {"pow", AutocastList::Widened, AutocastList::Follows},
    {"square", AutocastList::Widened, AutocastList::Follows},
    {"scalar_div", AutocastList::Widened, AutocastList::Follows},
    {"softplus", AutocastList::Widened, AutocastList::Follows},
    {"mish", AutocastList::Follows, AutocastList::Follows},
    {"elu", AutocastList::Follows, AutocastList::Follows},
    {"selu", AutocastList::Follows, AutocastList::Follows},
    {"gelu", AutocastList::Follows, AutocastList::Follows},
    {"sum", AutocastList::Widened, AutocastList::Follows},
    {"mean", AutocastList::Follows, AutocastList::Follows},
    {"max", AutocastList::Follows, AutocastList::Follows},
    {"min", AutocastList::Follows, AutocastList::Follows},
    {"variance", AutocastList::Follows, AutocastList::Follows},
    {"upsample2d", AutocastList::Widened, AutocastList::Follows},
    {"pad_reflect", AutocastList::Follows, AutocastList::Widened},
};

}  // namespace

AutocastList autocastList(std::string_view name, bool onCuda) {
  const auto* found = std::ranges::find(kListed, name, &Listed::name);
  if (found == std::end(kListed)) return AutocastList::None;
  return onCuda ? found->cuda : found->cpu;
}

}  // namespace tbem::graph
