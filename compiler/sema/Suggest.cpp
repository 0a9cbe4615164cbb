#include "compiler/sema/Suggest.h"

#include "compiler/diagnostics/Hints.h"
#include "compiler/sema/Modules.h"
#include "compiler/sema/Value.h"

#include <embedded/tbem_stdlib.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

namespace tbem::sema {

namespace {

/// What PyTorch and others call otherwise, in small letters without a trailing "1d", "2d" or "3d". Only names that are far from
/// ours by their letters.
constexpr std::array<std::pair<std::string_view, std::string_view>, 57> kElsewhere = {{
    {"linear", "dense"},
    {"fc", "dense"},
    {"fully_connected", "dense"},
    {"view", "reshape"},
    {"squeeze", "reshape"},
    {"unsqueeze", "reshape"},
    {"expand_dims", "reshape"},
    {"expand", "broadcast_to"},
    {"expand_as", "broadcast_to"},
    {"tile", "broadcast_to"},
    {"cat", "concat"},
    {"concatenate", "concat"},
    {"chunk", "split"},
    {"narrow", "slice"},
    {"select", "slice"},
    {"take", "gather"},
    {"index_select", "gather"},
    {"masked_fill", "where"},
    {"bmm", "matmul"},
    {"mm", "matmul"},
    {"dot", "matmul"},
    {"t", "transpose"},
    {"swapaxes", "transpose"},
    {"swapdims", "transpose"},
    {"moveaxis", "permute"},
    {"detach", "stop_gradient"},
    {"swish", "silu"},
    {"hardswish", "hard_swish"},
    {"hardsigmoid", "hard_sigmoid"},
    {"hardtanh", "hard_tanh"},
    {"interpolate", "upsample2d"},
    {"upsample", "upsample2d"},
    {"resize", "upsample2d"},
    {"adaptiveavgpool", "adaptive_avg_pool2d"},
    {"averagepool", "avg_pool2d"},
    {"batchnorm", "batch_norm"},
    {"layernorm", "layer_norm"},
    {"crossentropyloss", "cross_entropy"},
    {"nll_loss", "nll"},
    {"mse_loss", "mse"},
    {"l1_loss", "l1"},
    {"mseloss", "mse"},
    {"nllloss", "nll"},
    {"bceloss", "bce"},
    {"smoothl1loss", "smooth_l1"},
    {"maxpool", "max_pool2d"},
    {"avgpool", "avg_pool2d"},
    {"maxpooling", "max_pool2d"},
    {"averagepooling", "avg_pool2d"},
    {"globalaveragepooling", "global_avg_pool"},
    {"batchnormalization", "batch_norm"},
    {"layernormalization", "layer_norm"},
    {"multiply", "mul"},
    {"subtract", "sub"},
    {"negative", "neg"},
    {"lstmcell", "lstm"},
    {"grucell", "gru"},
}};

/// What they call the parameters of layers.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kParametersElsewhere = {{
    {"padding", "pad"},
    {"dim", "axis"},
    {"dims", "axis"},
    {"filters", "out"},
    {"units", "out"},
    {"features", "out"},
    {"num_embeddings", "vocab"},
    {"embedding_dim", "width"},
    {"hidden_size", "width"},
    {"rate", "p"},
    {"negative_slope", "slope"},
    {"learning_rate", "lr"},
}};
/// What they must be told and a shape says here.
constexpr std::array<std::string_view, 4> kSizesOfInputs = {"in_channels", "in_features", "input_size", "in_dim"};

/// Words of other languages for what has a form of its own here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kWritten = {{
    {"True", "a truth value is written `true`"},
    {"False", "a truth value is written `false`"},
    {"None", "there is no empty value: a parameter has a default instead, such as 0 or `false`"},
    {"Sequential", "layers follow each other by `|>`: `x |> conv2d(16, kernel: 3) |> relu`; a list of layers runs in a `for`"},
    {"ModuleList", "a list of layers is `[dense(10) for i in 0 .. 3]`"},
    {"enumerate", "`for i in 0 .. len(xs)` counts, and `xs[i]` is the element"},
    {"self", "nothing belongs to an object: tensors, parameters and layers stand by their names"},
    {"grad", "the gradient of a result `y` is `dy`"},
    {"einsum", "a sum of products over named axes is `matmul` of what `permute` and `reshape` bring to its form"},
    {"tril",
     "a part of a matrix is kept by comparing `coordinate`s: `elementwise y = if coordinate(1) <= coordinate(0) then x else 0`"},
    {"triu",
     "a part of a matrix is kept by comparing `coordinate`s: `elementwise y = if coordinate(1) >= coordinate(0) then x else 0`"},
    {"range", "the whole numbers from `a` to before `b` are `a .. b`"},
}};

/// What they call the types of elements.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kElementsElsewhere = {{
    {"float", "f32"},
    {"fp16", "f16"},
    {"fp32", "f32"},
    {"fp64", "f64"},
    {"float32", "f32"},
    {"float64", "f64"},
    {"double", "f64"},
    {"float16", "f16"},
    {"half", "f16"},
    {"bfloat16", "bf16"},
    {"long", "i64"},
    {"int64", "i64"},
    {"int32", "i32"},
    {"int8", "i8"},
    {"uint8", "u8"},
}};

/// In small letters, without underscores.
std::string squeezed(std::string_view name) {
  std::string bare;
  for (const char c : name) {
    if (c != '_') bare.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  return bare;
}

/// The candidate that differs in capitals and underscores alone: `max_pool2d` for `MaxPool2d`.
std::string alike(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string bare = squeezed(name);
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const std::string& one) { return one != name && squeezed(one) == bare; });
  return found != candidates.end() ? *found : "";
}

/// The standard module that declares a public network, block or operator `name`; "" where none does.
std::string moduleOf(std::string_view name) {
  for (const auto& file : stdlib::files()) {
    for (const std::string_view kind : {"network ", "block ", "operator "}) {
      const std::string head = "\n" + std::string(kind) + std::string(name) + "(";
      const bool first = file.text.substr(0, head.size() - 1) == std::string_view(head).substr(1);
      if (first || file.text.find(head) != std::string_view::npos)
        return "std." + std::string(file.name.substr(0, file.name.find('/')));
    }
  }
  return {};
}

}  // namespace

std::string_view elsewhere(std::string_view name) {
  std::string small(name);
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view end : {"1d", "2d", "3d"}) {
    if (small.size() > end.size() && small.ends_with(end)) small.resize(small.size() - end.size());
  }
  if (small.ends_with('_')) small.pop_back();
  const auto found = std::find_if(kElsewhere.begin(), kElsewhere.end(), [&](const auto& pair) { return pair.first == small; });
  return found != kElsewhere.end() ? found->second : std::string_view();
}

std::string nearestType(std::string_view word, const std::vector<std::string>& types) {
  constexpr std::pair<std::string_view, std::string_view> kTypesElsewhere[] = {
      {"float", "real"}, {"double", "real"}, {"number", "real"}, {"str", "string"}, {"integer", "int"}, {"boolean", "bool"}};
  for (const auto& [theirs, ours] : kTypesElsewhere) {
    if (word == theirs) return std::string(ours);
  }
  const std::string near = alike(word, types);
  return near.empty() ? nearest(word, types) : near;
}

std::string nearestElementType(std::string_view word) {
  for (const auto& [theirs, ours] : kElementsElsewhere) {
    if (word == theirs) return std::string(ours);
  }
  return nearest(word, {kDTypeNames.begin(), kDTypeNames.end()});
}

std::string_view asTorchvision(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kNetworks[] = {
#define NETWORK(theirs, ours) {theirs, ours},
#include "compiler/sema/TorchvisionNames.def"
#undef NETWORK
  };
  const auto* found =
      std::find_if(std::begin(kNetworks), std::end(kNetworks), [&](const auto& pair) { return pair.first == name; });
  return found != std::end(kNetworks) ? found->second : std::string_view();
}

std::string_view absentFamily(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kFamilies[] = {
#define FAMILY(begins, packages) {begins, packages},
#include "compiler/sema/AbsentNetworks.def"
#undef FAMILY
  };
  std::string small(name);
  std::transform(small.begin(), small.end(), small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [begins, packages] : kFamilies) {
    if (!small.starts_with(begins)) continue;
    // `swin_t` and `SwinModel` are of the family `swin`, `swing` is not.
    const bool ends = small.size() == begins.size() || std::islower(static_cast<unsigned char>(name[begins.size()])) == 0;
    if (ends) return packages;
  }
  return {};
}

std::vector<std::string> ownNames(const Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, decl] : module.own) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

void suggest(Diagnostic& report, const ast::Name& name, const std::vector<std::string>& candidates,
             const std::vector<std::string>& own) {
  const auto nearestOf = [&](const std::vector<std::string>& names) {
    const std::string near = alike(name.text, names);
    return near.empty() ? nearest(name.text, names) : near;
  };
  if (const std::string module = moduleOf(name.text); !module.empty()) {
    report.note("`" + module + "` has it: write `import " + module + ": " + name.text + "` at the top");
    return;
  }
  for (const auto& [word, way] : kWritten) {
    if (name.text != word) continue;
    report.note(std::string(way));
    return;
  }
  for (const auto& [theirs, ours] : kElementsElsewhere) {
    if (name.text != theirs) continue;
    report.note("this element type is written `" + std::string(ours) + "`");
    return;
  }
  const auto known = [&](std::string_view one) {
    return std::find(candidates.begin(), candidates.end(), one) != candidates.end();
  };
  if (const std::string_view ours = elsewhere(name.text); !ours.empty() && known(ours)) {
    report.note("what other frameworks call so is `" + std::string(ours) + "` here: `tbemc doc " + std::string(ours) + "`");
    return;
  }
  if (constexpr std::string_view kPackages[] = {"torch", "nn", "F", "tf", "np"};
      std::find(std::begin(kPackages), std::end(kPackages), name.text) != std::end(kPackages)) {
    report.note("operators stand without a package before them: `relu(x)`, `x |> dense(10)`; docs/operators.md lists them");
    return;
  }
  if (const std::string_view network = asTorchvision(name.text); !network.empty()) {
    report.note("torchvision's `" + std::string(name.text) + "` is `" + std::string(network) + "` of `std.vision`");
    return;
  }
  std::string near = nearestOf(own);
  const bool isOwn = !near.empty();
  if (!isOwn) near = nearestOf(candidates);
  // A candidate of the same family is what was meant; another network is not.
  if (const std::string_view packages = absentFamily(name.text); !isOwn && !packages.empty() && absentFamily(near).empty()) {
    report.note("a network that " + std::string(packages) + " call so is not in the standard library: write it as a `network`");
    return;
  }
  if (!near.empty()) report.note("did you mean `" + near + "`?").fix(name.range, near);
}

void suggestParameter(Diagnostic& report, const ast::Name& name, const std::vector<std::string>& declared) {
  std::string near = nearest(name.text, declared);
  const auto related = [&](const std::string& one) {
    return one.ends_with("_" + name.text) || one.starts_with(name.text + "_") || name.text.starts_with(one + "_");
  };
  if (near.empty() && std::count_if(declared.begin(), declared.end(), related) == 1)
    near = *std::find_if(declared.begin(), declared.end(), related);
  if (near.empty()) {
    for (const auto& [theirs, ours] : kParametersElsewhere) {
      if (theirs == name.text && std::find(declared.begin(), declared.end(), ours) != declared.end()) near = ours;
    }
  }
  if (std::find(kSizesOfInputs.begin(), kSizesOfInputs.end(), name.text) != kSizesOfInputs.end()) {
    report.note("the size of what comes in is that of the tensor: leave this out");
  } else if (!near.empty()) {
    report.note("did you mean `" + near + "`?").fix(name.range, near);
  } else if (!declared.empty()) {
    report.note("its parameters: " + nearestFew(name.text, declared));
  } else {
    report.note("it has no parameters");
  }
}

}  // namespace tbem::sema
