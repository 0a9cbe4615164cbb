#include "compiler/driver/CheckNetworks.h"

#include "compiler/syntax/Parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace tbem::driver {

namespace {

bool holdsWord(std::string_view text, std::string_view word) {
  const auto inWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !inWord(text[at - 1])) && (end == text.size() || !inWord(text[end]))) return true;
  }
  return false;
}

/// What another size may mend, so that it is no mistake of a network without a design.
bool dependsOnSizes(Diag kind) {
  switch (kind) {
    case Diag::shape_mismatch:
    case Diag::pre_violated:
    case Diag::post_violated:
    case Diag::requirement_violated:
    case Diag::dimension_not_positive:
    case Diag::dimension_fractional:
    case Diag::assertion_failed:
    case Diag::weight_shapes_differ:
    case Diag::outside_domain:
    case Diag::index_out_of_range:
    case Diag::division_by_zero:
    case Diag::negative_exponent:
    case Diag::input_without_shape:
    case Diag::missing_argument:
      return true;
    default:
      return false;
  }
}

/// The design that builds a network once at one size of all dimensions but the first; nothing, and why, where there is none.
struct Trial {
  std::string text;
  std::string sizes;  ///< "n = 2, h = 32"
};
tl::expected<Trial, std::string> trialOf(const ast::Callable& network, const SourceManager& sources, int size) {
  for (const ast::Parameter& parameter : network.parameters) {
    if (parameter.defaultValue == nullptr) return tl::unexpected(fmt::format("`{}` has no default", parameter.name.text));
  }
  Trial trial;
  std::set<std::string> named;
  trial.text = fmt::format("design check of {} {{\n", network.name.text);
  for (const ast::Parameter& tensor : network.tensors) {
    const auto* type = ast::dynCast<ast::TensorType>(tensor.type);
    if (type == nullptr) return tl::unexpected(fmt::format("`{}` is a list of tensors", tensor.name.text));
    std::string dims;
    for (std::size_t k = 0; k < type->dims.size(); ++k) {
      const ast::Expr& dim = *type->dims[k];
      const auto* name = ast::dynCast<ast::NameRef>(&dim);
      const bool parameter =
          name != nullptr && std::any_of(network.parameters.begin(), network.parameters.end(),
                                         [&](const ast::Parameter& p) { return p.name.text == name->name.text; });
      if (dim.kind != ast::NodeKind::Number && (name == nullptr || parameter))
        return tl::unexpected(fmt::format("`{}` has the dimension `{}`", tensor.name.text, sources.text(dim.range)));
      const std::string value = name == nullptr ? std::string(sources.text(dim.range)) : std::to_string(k == 0 ? 2 : size);
      if (name != nullptr && named.insert(name->name.text).second)
        trial.sizes += fmt::format("{}{} = {}", trial.sizes.empty() ? "" : ", ", name->name.text, value);
      dims += (k == 0 ? "" : ", ") + value;
    }
    trial.text += fmt::format("  input {}: [{}]\n", tensor.name.text, dims);
  }
  trial.text += "}\n";
  return trial;
}

/// The diagnostics of building the trial's row; the session's own stay as they were.
std::vector<Diagnostic> build(Workspace& workspace, const Trial& trial, const Options& options) {
  DiagnosticSink& sink = workspace.session.sink;
  const std::deque<Diagnostic> before = sink.all();
  sink.clear();
  const Source& source = workspace.session.sources.add("<check>", trial.text);
  const std::unique_ptr<ast::File> file = syntax::parse(source, sink);
  if (!sink.hasErrors()) {
    const auto* decl = ast::dynCast<ast::Design>(file->declarations.front());
    std::optional<graph::DesignSpec> spec = graph::readDesign(workspace.session, *workspace.program, *decl);
    if (spec) {
      graph::ExperimentOptions experiment;
      if (options.dtype == "f64") experiment.dtype = TBEM_F64;
      graph::Experiment(workspace.session, *workspace.program, *spec, experiment).row({});
    }
  }
  std::vector<Diagnostic> made;
  for (const Diagnostic& one : sink.all()) {
    if (one.severity == Severity::Error) made.push_back(one);
  }
  sink.clear();
  for (const Diagnostic& one : before) sink.append(one);
  return made;
}

void checkNetwork(State& state, const ast::Callable& network) {
  constexpr int kSizes[] = {32, 224, 28, 64, 16, 8, 1};
  const std::string& name = network.name.text;
  std::string why;
  for (const int size : kSizes) {
    const auto trial = trialOf(network, state.workspace->session.sources, size);
    if (!trial) {
      why = trial.error();
      break;
    }
    const std::vector<Diagnostic> mistakes = build(*state.workspace, *trial, state.options);
    if (mistakes.empty()) {
      if (!state.options.json)
        printNote(state.options, fmt::format("network `{}`: checked without a design, with {}", name,
                                             trial->sizes.empty() ? "its own sizes" : trial->sizes));
      return;
    }
    if (std::none_of(mistakes.begin(), mistakes.end(), [](const Diagnostic& d) { return dependsOnSizes(d.kind); })) {
      for (const Diagnostic& one : mistakes) state.sink().append(one);
      return;
    }
    if (why.empty()) why = fmt::format("with {}: {}", trial->sizes, mistakes.front().message);
  }
  if (!state.options.json)
    printNote(
        state.options,
        fmt::format("network `{}`: no design builds it, so only names were checked ({}); --input gives it sizes", name, why));
}

}  // namespace

void checkNetworks(State& state) {
  Workspace& workspace = *state.workspace;
  for (const ast::Callable* callable : workspace.all<ast::Callable>()) {
    if (callable->callable != ast::CallableKind::Network) continue;
    const bool built = std::any_of(state.designs.runs.begin(), state.designs.runs.end(), [&](const auto& run) {
      return holdsWord(workspace.session.sources.text(run->spec.decl->range), callable->name.text);
    });
    const auto names = [&](const ast::Callable* other) {
      return other != callable && holdsWord(workspace.session.sources.text(other->range), callable->name.text);
    };
    const std::vector<const ast::Callable*> others = workspace.all<ast::Callable>();
    if (!built && std::none_of(others.begin(), others.end(), names)) checkNetwork(state, *callable);
  }
}

}  // namespace tbem::driver
