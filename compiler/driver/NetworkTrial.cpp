#include "compiler/driver/NetworkTrial.h"

#include "compiler/support/diagnostics/Graph.h"
#include "compiler/support/diagnostics/Sema.h"
#include "compiler/syntax/Parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tbem::driver {

namespace {

bool isInt(const ast::Type* type) {
  const auto* named = ast::dynCast<ast::NamedType>(type);
  return named != nullptr && named->name.text == "int";
}

/// The text of a trial while it is written.
class Writer {
public:
  Writer(const ast::Callable& network, const SourceManager& sources, int size, TrialSizes sizes)
      : network(network), sources(sources), size(size), sizes(sizes) {}

  tl::expected<Trial, std::string> write() {
    for (const ast::Parameter& parameter : network.parameters) addParameter(parameter);
    for (const ast::Parameter& tensor : network.tensors) addTensor(tensor);
    if (!why.empty()) return tl::unexpected(why);
    return Trial{fmt::format("design check of {} {{\n{}{}}}\n", network.name.text, factors, inputs), said};
  }

private:
  void leave(std::string reason) {
    if (why.empty()) why = std::move(reason);
  }

  void addParameter(const ast::Parameter& parameter) {
    const std::string& name = parameter.name.text;
    if (sizes == TrialSizes::Factors && parameter.domain != nullptr) {
      factors += fmt::format("  factor {}\n", name);
    } else if (parameter.defaultValue == nullptr) {
      if (sizes == TrialSizes::Factors && isInt(parameter.type))
        addNumber(name, size);
      else
        leave(fmt::format("`{}` has no default", name));
    }
  }

  void addNumber(const std::string& name, int value) {
    said += fmt::format("{}{} = {}", said.empty() ? "" : ", ", name, value);
    if (sizes == TrialSizes::Factors) factors += fmt::format("  factor {}: {}\n", name, value);
  }

  void addTensor(const ast::Parameter& tensor) {
    const auto* type = ast::dynCast<ast::TensorType>(tensor.type);
    if (type == nullptr) return leave(fmt::format("`{}` is a list of tensors", tensor.name.text));
    std::string dims;
    for (std::size_t k = 0; k < type->dims.size(); ++k) dims += (k == 0 ? "" : ", ") + dimension(tensor, *type->dims[k], k == 0);
    inputs += fmt::format("  input {}: [{}]\n", tensor.name.text, dims);
  }

  std::string dimension(const ast::Parameter& tensor, const ast::Expr& dim, bool isFirst) {
    if (dim.kind == ast::NodeKind::Number) return std::string(sources.text(dim.range));
    const auto* name = ast::dynCast<ast::NameRef>(&dim);
    const bool isParameter = name != nullptr && std::any_of(network.parameters.begin(), network.parameters.end(),
                                                            [&](const auto& one) { return one.name.text == name->name.text; });
    if (name == nullptr || isParameter) {
      leave(fmt::format("`{}` has the dimension `{}`", tensor.name.text, sources.text(dim.range)));
      return {};
    }
    const int value = isFirst ? 2 : size;
    if (named.insert(name->name.text).second) addNumber(name->name.text, value);
    return sizes == TrialSizes::Factors ? name->name.text : std::to_string(value);
  }

  const ast::Callable& network;
  const SourceManager& sources;
  int size;
  TrialSizes sizes;
  std::string factors, inputs, said, why;
  std::set<std::string> named;
};

}  // namespace

tl::expected<Trial, std::string> trialOf(const ast::Callable& network, const SourceManager& sources, int size, TrialSizes sizes) {
  return Writer(network, sources, size, sizes).write();
}

TrialDesign::TrialDesign(std::unique_ptr<ast::File> file, graph::DesignSpec spec, Workspace& workspace, const Options& options)
    : file(std::move(file)),
      spec(std::move(spec)),
      experiment(workspace.session, *workspace.program, this->spec, experimentOptions(options)) {}

std::unique_ptr<TrialDesign> designOf(Workspace& workspace, const Trial& trial, const Options& options) {
  const Source& source = workspace.session.sources.add("<check>", trial.text);
  std::unique_ptr<ast::File> file = syntax::parse(source, workspace.session.sink);
  if (workspace.session.sink.hasErrors()) return nullptr;
  const auto* decl = ast::dynCast<ast::Design>(file->declarations.front());
  std::optional<graph::DesignSpec> spec = graph::readDesign(workspace.session, *workspace.program, *decl);
  if (!spec) return nullptr;
  return std::make_unique<TrialDesign>(std::move(file), std::move(*spec), workspace, options);
}

bool dependsOnSizes(Diag kind) {
  switch (kind) {
    case diag::shape_mismatch:
    case diag::pre_violated:
    case diag::post_violated:
    case diag::requirement_violated:
    case diag::dimension_not_positive:
    case diag::dimension_fractional:
    case diag::assertion_failed:
    case diag::weight_shapes_differ:
    case diag::outside_domain:
    case diag::index_out_of_range:
    case diag::division_by_zero:
    case diag::negative_exponent:
    case diag::input_without_shape:
    case diag::missing_argument:
      return true;
    default:
      return false;
  }
}

}  // namespace tbem::driver
