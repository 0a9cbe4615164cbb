#include "compiler/verify/NetworkTrial.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"
#include "compiler/syntax/parse/Parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace tbem::driver {

namespace {

bool isInt(const ast::Type* type) {
  const auto* named = ast::dynCast<ast::NamedType>(type);
  return named != nullptr && named->name.text == "int";
}

/// How many whole numbers the type holds where it is a list of them; 0: it is none.
std::size_t elementsOf(const ast::Type* type, std::size_t length) {
  if (const auto* list = ast::dynCast<ast::ListType>(type)) return isInt(list->element) ? length : 0;
  const auto* named = ast::dynCast<ast::NamedType>(type);
  if (named == nullptr) return 0;
  const std::string& word = named->name.text;
  return word == "axes" ? 1 : word == "pair" ? 2 : word == "pads" ? 4 : 0;
}

/// The text of a trial while it is written.
class Writer {
public:
  Writer(const TrialSubject& subject, const SourceManager& sources, int size, TrialSizes sizes, std::size_t length)
      : subject(subject), network(*subject.callable), sources(sources), size(size), sizes(sizes), length(length) {}

  tl::expected<Trial, std::string> write() {
    for (const ast::Parameter& parameter : network.parameters) addParameter(parameter);
    for (const ast::Parameter& tensor : network.tensors) addTensor(tensor);
    if (!why.empty()) return tl::unexpected(why);
    const std::string call = lists.empty() ? subject.call : fmt::format("{}({})", subject.call, lists);
    trial.text = fmt::format("design check of {} {{\n{}{}}}\n", call, factors, inputs);
    return trial;
  }

private:
  void leave(std::string reason) {
    if (why.empty()) why = std::move(reason);
  }

  void addParameter(const ast::Parameter& parameter) {
    const std::string& name = parameter.name.text;
    if (std::find(subject.given.begin(), subject.given.end(), name) != subject.given.end()) return;
    const std::size_t elements = elementsOf(parameter.type, length);
    if (sizes == TrialSizes::Factors && parameter.domain != nullptr) {
      factors += fmt::format("  factor {}\n", name);
    } else if (parameter.defaultValue == nullptr) {
      const auto levels = subject.levels.find(name);
      if (levels != subject.levels.end())
        factors += fmt::format("  factor {}: {}\n", name, levels->second);
      else if (sizes == TrialSizes::Factors && isInt(parameter.type))
        addNumber(name, size);
      else if (sizes == TrialSizes::Factors && elements != 0)
        addList(parameter, elements);
      else
        leave(fmt::format("`{}` has no default", name));
    }
  }

  /// A factor for each element, by which the call gives the list.
  void addList(const ast::Parameter& parameter, std::size_t elements) {
    const std::string& name = parameter.name.text;
    std::string items;
    for (std::size_t i = 0; i < elements; ++i) {
      const std::string factor = fmt::format("{}_{}", name, i);
      trial.elements.emplace(factor, fmt::format("{}[{}]", name, i));
      addNumber(factor, size);
      items += (i == 0 ? "" : ", ") + factor;
    }
    lists += fmt::format("{}{}: [{}]", lists.empty() ? "" : ", ", name, items);
    if (ast::dynCast<ast::ListType>(parameter.type) != nullptr) addLength(name, elements);
  }

  void addLength(const std::string& list, std::size_t elements) {
    trial.lengths += fmt::format("{}len({}) = {}", trial.lengths.empty() ? "" : ", ", list, elements);
  }

  void addNumber(const std::string& name, int value) {
    trial.sizes += fmt::format("{}{} = {}", trial.sizes.empty() ? "" : ", ", name, value);
    if (sizes == TrialSizes::Factors) factors += fmt::format("  factor {}: {}\n", name, value);
  }

  void addTensor(const ast::Parameter& tensor) {
    const std::string& name = tensor.name.text;
    const auto* list = ast::dynCast<ast::ListType>(tensor.type);
    const auto* type = ast::dynCast<ast::TensorType>(list != nullptr ? list->element : tensor.type);
    if (type == nullptr) return leave(fmt::format("`{}` has no declared shape", name));
    if (list != nullptr && length == 0) return leave(fmt::format("`{}` is a list of tensors", name));
    std::string dims;
    for (std::size_t k = 0; k < type->dims.size(); ++k) dims += (k == 0 ? "" : ", ") + dimension(tensor, *type->dims[k], k == 0);
    std::string shape = fmt::format("[{}]", dims);
    if (list != nullptr) {  // all of one shape: the names of its dimensions agree
      std::string shapes = shape;
      for (std::size_t i = 1; i < length; ++i) shapes += ", " + shape;
      shape = fmt::format("[{}]", shapes);
      addLength(name, length);
    }
    inputs += fmt::format("  input {}: {}\n", name, shape);
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

  const TrialSubject& subject;
  const ast::Callable& network;
  const SourceManager& sources;
  int size;
  TrialSizes sizes;
  std::size_t length;
  Trial trial;
  std::string factors, lists, inputs, why;
  std::set<std::string> named;
};

}  // namespace

tl::expected<Trial, std::string> trialOf(const TrialSubject& subject, const SourceManager& sources, int size, TrialSizes sizes,
                                         std::size_t length) {
  return Writer(subject, sources, size, sizes, length).write();
}

std::optional<TrialSubject> subjectOf(Workspace& workspace, const ast::Expr& expr) {
  Session& session = workspace.session;
  sema::ExprPool pool;
  sema::Evaluator evaluator(*workspace.program, pool, session.sink);
  const sema::Value called = evaluator.evaluateIn(workspace.program->main(), expr, {});
  if (called.isPoison()) return std::nullopt;
  const auto* callable = ast::dynCast<ast::Callable>(called.decl);
  if (callable == nullptr) {
    session.sink.report(diag::unknown_network, expr.range, sema::kindName(called));
    return std::nullopt;
  }
  return TrialSubject{callable, std::string(session.sources.text(expr.range)), called.words, {}};
}

TrialDesign::TrialDesign(std::unique_ptr<ast::File> file, graph::DesignSpec spec, Workspace& workspace, const Target& target)
    : file(std::move(file)),
      spec(std::move(spec)),
      experiment(workspace.session, *workspace.program, this->spec, experimentOptions(target)) {}

std::unique_ptr<TrialDesign> designOf(Workspace& workspace, const Trial& trial, const Target& target) {
  const Source& source = workspace.session.sources.add(kTrialFile, trial.text);
  std::unique_ptr<ast::File> file = syntax::parse(source, workspace.session.sink);
  if (workspace.session.sink.hasErrors()) return nullptr;
  const auto* decl = ast::dynCast<ast::Design>(file->declarations.front());
  std::optional<graph::DesignSpec> spec = graph::readDesign(workspace.session, *workspace.program, *decl);
  if (!spec) return nullptr;
  return std::make_unique<TrialDesign>(std::move(file), std::move(*spec), workspace, target);
}

bool inWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t findWord(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !inWord(text[at - 1])) && (end == text.size() || !inWord(text[end]))) return at;
  }
  return std::string_view::npos;
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
