#include "compiler/repl/RuntimeCall.h"

#include "compiler/sema/Walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace tbem::repl {

namespace {

using ast::NodeKind;

/// The tensors that names mean where an expression stands: `i` is none in `f(i) for i in 0 .. 9`.
class Sight {
public:
  explicit Sight(const FindTensor& findTensor) : findTensor(findTensor) {}

  const TensorType* tensor(std::string_view name) const {
    return std::ranges::find(bound, name) == bound.end() ? findTensor(name) : nullptr;
  }
  /// Of a field of a tensor's name, which is a number of elaboration time (Tensors.h).
  bool isStatistic(const ast::Expr& expression) const {
    const auto* member = ast::dynCast<ast::Member>(&expression);
    const auto* name = member == nullptr ? nullptr : ast::dynCast<ast::NameRef>(member->object);
    return name != nullptr && tensor(name->name.text) != nullptr;
  }
  /// Visits what stands directly inside; what the expression binds is no tensor there.
  void inside(const ast::Expr& expression, const std::function<void(const ast::Expr& child)>& visit) {
    const std::size_t before = bound.size();
    if (const auto* list = ast::dynCast<ast::Comprehension>(&expression)) {
      for (const auto& generator : list->generators) bound.push_back(generator.variable.text);
    }
    if (const auto* statement = ast::dynCast<ast::Quantifier>(&expression)) {
      for (const auto& variable : statement->variables) bound.push_back(variable.name.text);
    }
    sema::forEachChild(expression, visit);
    bound.resize(before);
  }

private:
  const FindTensor& findTensor;
  std::vector<std::string_view> bound;
};

bool takesList(const ast::Type* type) {
  if (type == nullptr || type->kind == NodeKind::ListType) return true;
  const auto* named = ast::dynCast<ast::NamedType>(type);
  constexpr std::string_view kLists[] = {"pair", "pads", "axes"};
  return named != nullptr && std::ranges::find(kLists, std::string_view(named->name.text)) != std::end(kLists);
}

/// What a call applies.
struct Applied {
  const ast::Callable* callable = nullptr;
  bool isInstance = false;  ///< it has its parameters already
};

/// What a call gives for a tensor.
struct TensorArgument {
  const ast::Expr* value = nullptr;
  const ast::Type* type = nullptr;
  std::string name;
};

/// Questions about expressions: what they apply, and whether tensors flow in them.
class Applications {
public:
  Applications(const sema::Program& program, Sight& sight) : program(program), sight(sight) {}

  bool flows(const ast::Expr& expression) const {
    if (sight.isStatistic(expression)) return false;
    if (const auto* name = ast::dynCast<ast::NameRef>(&expression)) return sight.tensor(name->name.text) != nullptr;
    const auto* pipe = ast::dynCast<ast::Pipe>(&expression);
    if (pipe != nullptr && applied(*pipe->target).callable != nullptr) return true;
    const auto* call = ast::dynCast<ast::Call>(&expression);
    if (call != nullptr && (!tensorArguments(*call, false).empty() || makesTensor(*call))) return true;
    bool inside = false;
    sight.inside(expression, [&](const ast::Expr& child) { inside = inside || flows(child); });
    return inside;
  }

  /// Of a call, a pipe's target, a callee: the operator, block or network that it applies.
  Applied applied(const ast::Expr& callee) const {
    std::set<const ast::Constant*> passed;
    const ast::Expr* at = &callee;
    for (bool isInstance = false;; isInstance = true) {
      if (const ast::Callable* callable = callableOf(*at)) return {callable, isInstance};
      if (const auto* call = ast::dynCast<ast::Call>(at)) {
        at = call->callee;
        continue;
      }
      const ast::Constant* constant = constantOf(*at);
      if (constant == nullptr || constant->value->kind != NodeKind::Call || !passed.insert(constant).second) return {};
      at = constant->value;
    }
  }

  /// The constant `let b = residual(out: 64)` that a name means.
  const ast::Constant* instanceOf(const ast::NameRef& name) const {
    const ast::Constant* constant = constantOf(name);
    if (constant == nullptr || constant->value->kind != NodeKind::Call) return nullptr;
    return applied(*constant->value).callable == nullptr ? nullptr : constant;
  }

  /// `piped`: the first tensor comes from the left.
  std::vector<TensorArgument> tensorArguments(const ast::Call& call, bool piped) const {
    std::vector<TensorArgument> found;
    const Applied what = applied(*call.callee);
    if (what.callable == nullptr || what.callable->tensors.empty()) return found;
    const std::vector<ast::Parameter>& tensors = what.callable->tensors;
    const bool byPosition = what.isInstance || piped || beginsWithTensor(call, *what.callable);
    std::size_t next = piped ? 1 : 0;
    for (const ast::Argument& argument : call.arguments) {
      if (argument.rest || argument.value == nullptr) continue;
      if (!argument.name.empty()) {
        const auto named = std::ranges::find(tensors, argument.name.text, [](const auto& tensor) { return tensor.name.text; });
        if (named != tensors.end()) found.push_back({argument.value, named->type, named->name.text});
      } else if (byPosition && next < tensors.size() && (!piped || flows(*argument.value))) {
        found.push_back({argument.value, tensors[next].type, tensors[next].name.text});
        ++next;
      }
    }
    return found;
  }

private:
  /// A tensor of its parameters alone, `arange(5)`. One number without dimensions is a schedule, which stays what it is.
  bool makesTensor(const ast::Call& call) const {
    const Applied what = applied(*call.callee);
    if (what.callable == nullptr || !what.callable->tensors.empty() || what.callable->results.empty()) return false;
    const auto* type = ast::dynCast<ast::TensorType>(what.callable->results.front().type);
    return type != nullptr && !type->dims.empty();
  }

  const ast::Callable* callableOf(const ast::Expr& callee) const {
    sema::Resolved what;
    if (const auto* name = ast::dynCast<ast::NameRef>(&callee)) what = program.resolve(program.main(), name->name.text);
    if (const auto* member = ast::dynCast<ast::Member>(&callee)) {
      const auto* object = ast::dynCast<ast::NameRef>(member->object);
      if (object == nullptr) return nullptr;
      const sema::Resolved module = program.resolve(program.main(), object->name.text);
      if (module && module.decl == nullptr) what = program.member(*module.module, member->member.text, program.main());
    }
    const auto* callable = ast::dynCast<ast::Callable>(what.decl);
    return callable != nullptr && callable->callable != ast::CallableKind::Dataset ? callable : nullptr;
  }

  /// Whether the first argument by position, a list, is meant for a tensor: a parameter that takes lists comes before.
  bool beginsWithTensor(const ast::Call& call, const ast::Callable& callable) const {
    const ast::Argument* first = nullptr;
    std::size_t positional = 0;
    for (const ast::Argument& argument : call.arguments) {
      if (!argument.name.empty() || argument.rest) continue;
      ++positional;
      if (first == nullptr) first = &argument;
    }
    if (first == nullptr) return false;
    if (flows(*first->value)) return true;
    if (!isList(*first->value)) return false;
    if (positional > callable.parameters.size() || (call.separator && *call.separator > 0)) return true;
    return !takesList(callable.parameters.front().type);
  }

  /// A list, or a constant that is one.
  bool isList(const ast::Expr& expression) const {
    std::set<const ast::Constant*> passed;
    const ast::Expr* at = &expression;
    while (const ast::Constant* constant = constantOf(*at)) {
      if (!passed.insert(constant).second) return false;  // one that means itself
      at = constant->value;
    }
    return at->kind == NodeKind::List || at->kind == NodeKind::Comprehension;
  }

  /// The one that a name means. Its value may lead back to it: a session keeps `let a = b` and `let b = a`, with their error.
  const ast::Constant* constantOf(const ast::Expr& expression) const {
    const auto* name = ast::dynCast<ast::NameRef>(&expression);
    return name == nullptr ? nullptr : ast::dynCast<ast::Constant>(program.resolve(program.main(), name->name.text).decl);
  }

  const sema::Program& program;
  Sight& sight;
};

/// Takes out of an expression what stands for tensors.
class Reader {
public:
  Reader(const driver::Workspace& workspace, const Source& text, const FindTensor& findTensor)
      : sight(findTensor), asks(*workspace.program, sight), sources(workspace.session.sources), text(text) {}
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void read(const ast::Expr& expression) {
    if (sight.isStatistic(expression)) return;
    if (const auto* name = ast::dynCast<ast::NameRef>(&expression)) {
      if (const TensorType* tensor = sight.tensor(name->name.text))
        useTensor(expression, name->name.text, *tensor);
      else if (const ast::Constant* instance = asks.instanceOf(*name))
        useInstance(*name, *instance);
      return;
    }
    if (const auto* pipe = ast::dynCast<ast::Pipe>(&expression)) {
      readPipe(*pipe);
      return;
    }
    if (const auto* call = ast::dynCast<ast::Call>(&expression)) {
      readCall(*call, false);
      return;
    }
    sight.inside(expression, [&](const ast::Expr& child) { read(child); });
  }

  /// The expression with the names of inputs in place of what stands for them.
  std::string replaced(const ast::Expr& expression) const {
    std::string result;
    std::size_t at = expression.range.begin - text.base;
    auto sorted = places;
    std::ranges::sort(sorted, {}, [](const auto& place) { return place.first.begin; });
    for (const auto& [range, name] : sorted) {
      result += text.text.substr(at, range.begin - text.base - at) + name;
      at = range.end - text.base;
    }
    return result + text.text.substr(at, expression.range.end - text.base - at);
  }

  Sight sight;
  const Applications asks;
  std::vector<RuntimeCall::Input> inputs;
  std::string parameters, shapes;  ///< of the network; clauses of the design
  std::string statements;          ///< of the network's body

private:
  void readPipe(const ast::Pipe& pipe) {
    const auto* call = ast::dynCast<ast::Call>(pipe.target);
    // `x |> conv2d(8)` gives the call its first tensor, `x |> relu` and `x |> b` apply what is named.
    const Applied what = call != nullptr ? asks.applied(*call->callee) : asks.applied(*pipe.target);
    if (what.callable != nullptr && !what.callable->tensors.empty()) {
      const ast::Parameter& tensor = what.callable->tensors.front();
      readTensor({pipe.input, tensor.type, tensor.name.text});
    } else {
      read(*pipe.input);
    }
    if (call != nullptr)
      readCall(*call, true);
    else
      read(*pipe.target);
  }

  void readCall(const ast::Call& call, bool piped) {
    const std::vector<TensorArgument> tensors = asks.tensorArguments(call, piped);
    for (const ast::Argument& argument : call.arguments) {
      if (argument.value == nullptr) continue;
      const auto tensor = std::ranges::find(tensors, argument.value, &TensorArgument::value);
      if (tensor != tensors.end())
        readTensor(*tensor);
      else
        read(*argument.value);
    }
    read(*call.callee);
  }

  void readTensor(const TensorArgument& argument) {
    if (asks.flows(*argument.value)) {
      read(*argument.value);
      return;
    }
    const auto* listType = ast::dynCast<ast::ListType>(argument.type);
    const auto* list = ast::dynCast<ast::List>(argument.value);
    if (listType != nullptr && list != nullptr) {
      for (const ast::Expr* item : list->items) readTensor({item, listType->element, argument.name});
      return;
    }
    const auto* type = ast::dynCast<ast::TensorType>(argument.type);
    const std::string dtype = type == nullptr || type->dtype.empty() ? "tensor" : type->dtype.text;
    const std::string name = freshInput(argument.name);
    const SrcRange range = argument.value->range;
    add(name, dtype, text.text.substr(range.begin - text.base, range.end - range.begin), "");
    places.emplace_back(range, name);
  }

  void useTensor(const ast::Expr& expression, const std::string& tensor, const TensorType& type) {
    const auto known = std::ranges::find(inputs, tensor, &RuntimeCall::Input::tensor);
    const std::string name = known == inputs.end() ? freshInput(tensor) : known->name;
    if (known == inputs.end()) add(name, type.dtype, fmt::format("[{}]", fmt::join(type.shape, ", ")), tensor);
    places.emplace_back(expression.range, name);
  }

  /// Outside of networks it has no weights: the network has an instance of its own, one for all its uses.
  void useInstance(const ast::NameRef& name, const ast::Constant& constant) {
    const std::string own = name.name.text + "_";
    const std::string statement = fmt::format("  let {} = {}\n", own, sourceText(sources, constant.value->range));
    if (statements.find(statement) == std::string::npos) statements += statement;
    places.emplace_back(name.range, own);
  }

  std::string freshInput(const std::string& wanted) const {
    std::string name = wanted;
    for (std::size_t number = 2; std::ranges::find(inputs, name, &RuntimeCall::Input::name) != inputs.end(); ++number)
      name = fmt::format("{}_{}", wanted, number);
    return name;
  }

  void add(const std::string& name, const std::string& dtype, const std::string& shape, const std::string& tensor) {
    parameters += fmt::format("{}{}: {}[..s{}]", inputs.empty() ? "" : ", ", name, dtype, inputs.size() + 1);
    shapes += fmt::format("  input {}: {}\n", name, shape);
    inputs.push_back({name, tensor});
  }

  const SourceManager& sources;
  const Source& text;
  std::vector<std::pair<SrcRange, std::string>> places;
};

/// A name that the program's own file does not have.
std::string freshName(const sema::Program& program, const std::string& wanted) {
  std::string name = wanted;
  while (program.resolve(program.main(), name)) name += "_";
  return name;
}

}  // namespace

void RuntimeCall::setTask(const std::string& task) {
  constexpr std::string_view kEnd = "}\n";
  text.insert(text.size() - kEnd.size(), fmt::format("  task {}\n", task));
}

std::optional<RuntimeCall> runtimeCall(const driver::Workspace& workspace, const ast::Expr& expression, const Source& text,
                                       const FindTensor& findTensor) {
  Reader reader(workspace, text, findTensor);
  if (!reader.asks.flows(expression)) return std::nullopt;
  reader.read(expression);
  RuntimeCall call;
  call.network = freshName(*workspace.program, "entry");
  call.design = freshName(*workspace.program, "entry_row");
  call.inputs = std::move(reader.inputs);
  call.text = fmt::format("network {}({}) {{\n{}  return {}\n}}\ndesign {} of {} {{\n{}}}\n", call.network, reader.parameters,
                          reader.statements, reader.replaced(expression), call.design, call.network, reader.shapes);
  return call;
}

}  // namespace tbem::repl
