#include "compiler/spec/network/Contract.h"

#include "compiler/sema/Walk.h"
#include "compiler/spec/network/ListReader.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::spec {

using sema::ExprOp;
using sema::Value;
using sema::ValueKind;

namespace {

constexpr std::size_t kLengths[] = {3, 2, 1, 4};
constexpr std::size_t kWeightRank = 2;  // of what an optimiser is tried on

std::string_view nameOf(const ast::Expr& expr) {
  const auto* name = ast::dynCast<ast::NameRef>(&expr);
  return name != nullptr ? std::string_view(name->name.text) : std::string_view();
}

/// Reads what a declaration promises of all sizes. One class: parameters, tensors, conditions and results bind names for each
/// other in this order.
class ContractReader : public ListReader {
public:
  ContractReader(Session& session, const sema::Program& program, const sema::Module& module, Contract& contract)
      : ListReader(session, program, module, contract.model), contract(contract), decl(*contract.decl) {}

  bool run(std::string& why) { return parameters(why) && tensors(why) && movesAWeight(why) && conditions() && results(why); }
  /// Whether nothing meets what is demanded, whatever the unknowns are.
  bool isImpossible = false;

protected:
  std::optional<Value> specialName(std::string_view name) override {
    if (name == "training") return truth(false);
    return std::nullopt;
  }
  std::optional<std::vector<Value>> shapeOf(const Value& tensor) override {
    std::vector<Value> dims;
    for (const SymbolId symbol : contract.tensors[tensor.id].dims) dims.push_back(valueOf(symbol));
    return dims;
  }

private:
  SymbolId number(const std::string& name, SrcRange range, Domain domain, bool isOutput = false, bool isTruth = false) {
    return unknown(name, range, isOutput, isTruth, std::move(domain));
  }
  static Domain size() {
    Domain domain;
    domain.low = 1;
    return domain;
  }

  bool parameters(std::string& why) {
    for (const ast::Parameter& one : decl.parameters) {
      const auto* named = ast::dynCast<ast::NamedType>(one.type);
      const auto* list = ast::dynCast<ast::ListType>(one.type);
      const auto* element = list != nullptr ? ast::dynCast<ast::NamedType>(list->element) : nullptr;
      const std::string word = named != nullptr ? named->name.text : std::string();
      std::size_t length = 0;
      if (word == "axes") length = 1;
      if (word == "pair") length = 2;
      if (word == "pads") length = 4;
      if (element != nullptr && (element->name.text == "int" || element->name.text == "real")) length = contract.length;
      const bool isNumber = word == "int" || word == "real" || word == "bool" || word == "schedule";
      if (one.defaultValue != nullptr && (contract.keepsDefaults || (length == 0 && !isNumber))) {
        if (!defaultParameter(one)) return false;
      } else if (length != 0) {
        if (!listParameter(one, length, element != nullptr && element->name.text == "real")) return false;
      } else if (isNumber) {
        Domain constant;  // a schedule may be a number
        constant.isReal = true;
        std::optional<Domain> domain = word == "schedule" ? constant : domainOf(one.name.text, *one.type, one.domain);
        if (!domain) return false;
        const SymbolId symbol = number(one.name.text, one.name.range, std::move(*domain), false, word == "bool");
        contract.parameters.push_back({one.name.text, {symbol}, false});
        define(one.name, valueOf(symbol));
      } else {
        why = fmt::format("the parameter `{}` is no number and has no default", one.name.text);
        return false;
      }
    }
    return true;
  }

  bool defaultParameter(const ast::Parameter& one) {
    Value value = evaluate(*one.defaultValue);
    if (value.isPoison()) return false;
    define(one.name, std::move(value));
    return true;
  }

  bool listParameter(const ast::Parameter& one, std::size_t length, bool isReal) {
    Contract::Parameter made{one.name.text, {}, true};
    std::vector<Value> items;
    for (std::size_t i = 0; i < length; ++i) {
      Domain domain;
      domain.isReal = isReal;
      const SymbolId symbol = number(fmt::format("{}[{}]", one.name.text, i), one.name.range, domain);
      made.values.push_back(symbol);
      items.push_back(valueOf(symbol));
    }
    define(one.name, Value::list(std::move(items)));
    contract.parameters.push_back(std::move(made));
    return true;
  }

  // ---- Tensors --------------------------------------------------------------------------------------------------------

  /// Or is no optimiser.
  bool movesAWeight(std::string& why) const {
    if (!contract.isOptimizer()) return true;
    if (!contract.tensors.empty() && contract.tensors.front().dims.size() == kWeightRank) return true;
    why = "what it updates is no weight of any shape";
    return false;
  }

  bool tensors(std::string& why) {
    for (const ast::Parameter& one : decl.tensors) {
      const auto* list = ast::dynCast<ast::ListType>(one.type);
      const ast::Type* element = list != nullptr ? list->element : one.type;
      const auto* type = ast::dynCast<ast::TensorType>(element);
      const auto* named = ast::dynCast<ast::NamedType>(element);
      const bool isAny = named != nullptr && named->name.text == "tensor";  // of any shape
      if (type == nullptr && (!isAny || list == nullptr)) {
        why = fmt::format("`{}` is no tensor with a shape", one.name.text);
        return false;
      }
      std::vector<Value> items;
      for (std::size_t i = 0; i < (list != nullptr ? contract.length : 1); ++i) {
        contract.tensors.push_back({one.name.text, {}, list != nullptr});
        const std::string name = list != nullptr ? fmt::format("{}[{}]", one.name.text, i) : one.name.text;
        for (std::size_t k = 0; isAny && k < contract.rank; ++k)
          contract.tensors.back().dims.push_back(number(fmt::format("{}[{}]", name, k), one.range, size()));
        for (const ast::Expr* dim : type != nullptr ? type->dims : std::vector<const ast::Expr*>()) {
          if (!tensorDim(name, *dim)) return false;
        }
        items.push_back(Value::indexed(ValueKind::Tensor, static_cast<std::uint32_t>(contract.tensors.size() - 1)));
      }
      define(one.name, list != nullptr ? Value::list(std::move(items)) : std::move(items.front()));
    }
    return true;
  }

  /// What one place of a declared shape stands for: a dimension, or with `..` as many as the list has. Nothing after a report.
  std::optional<sema::SharedVector<Value>> dimensions(const ast::Expr& expr, bool isSplice) {
    const Value value = evaluate(expr);
    if (value.isPoison()) return std::nullopt;
    return isSplice ? elements(value, expr.range) : std::optional(sema::SharedVector<Value>{value});
  }

  /// A name that is met first is an unknown; everything else has one of its own, which must agree.
  bool tensorDim(const std::string& tensor, const ast::Expr& dim) {
    std::vector<SymbolId>& dims = contract.tensors.back().dims;
    const auto* splice = ast::dynCast<ast::Splice>(&dim);
    const ast::Expr& inner = splice != nullptr ? *splice->value : dim;
    const std::string_view name = nameOf(inner);
    if (!name.empty() && find(name) == nullptr) {
      std::vector<Value> items;
      for (std::size_t k = 0; k < (splice != nullptr ? contract.rank : 1); ++k) {
        const std::string text = splice != nullptr ? fmt::format("{}[{}]", name, k) : std::string(name);
        dims.push_back(number(text, inner.range, size()));
        items.push_back(valueOf(dims.back()));
      }
      define({std::string(name), inner.range}, splice != nullptr ? Value::list(items) : items.front(), name);
      return true;
    }
    const std::optional<sema::SharedVector<Value>> wanted = dimensions(inner, splice != nullptr);
    if (!wanted) return false;
    for (const Value& one : *wanted) {
      if (contract.isOptimizer()) {  // a gradient has its weight's shape
        dims.push_back(pool[one.expr].symbol);
        continue;
      }
      dims.push_back(number(fmt::format("{}[{}]", tensor, dims.size()), dim.range, size()));
      demand(pool.make(ExprOp::Equal, pool.symbolRef(dims.back()), one.expr), false);
    }
    return true;
  }

  void demand(ExprId condition, bool declared) {
    isImpossible = isImpossible || pool.constantValue(condition) == Rational{};
    model.pre = pool.make(ExprOp::And, model.pre, condition);
    if (declared) contract.conditions.push_back(condition);
  }

  bool conditions() {
    for (const ast::Expr* clause : decl.pre) {
      for (const ast::Expr* part : conjunctsOf(*clause)) {
        const Value value = evaluate(*part);
        if (value.isPoison()) return false;
        if (!value.is(ValueKind::Bool)) {
          wrongKind(part->range, "`pre`", "a bool", value);
          return false;
        }
        demand(value.expr, true);
      }
    }
    return std::all_of(decl.requirements.begin(), decl.requirements.end(), [&](const ast::Expr* one) {
      return sema::namesResults(decl, *one) || forEachRequired(*one, [&](ExprId condition) {
               demand(condition, true);
               return true;
             });
    });
  }

  // ---- Results --------------------------------------------------------------------------------------------------------

  /// Names of the results' dimensions that nothing has bound yet are outputs. `post`, then the other dimensions, define them.
  bool results(std::string& why) {
    for (const ast::Result& one : decl.results) {
      const auto* type = ast::dynCast<ast::TensorType>(one.type);
      if (type == nullptr) continue;
      for (const ast::Expr* dim : type->dims) {
        const std::string_view name = nameOf(*dim);
        if (name.empty() || find(name) != nullptr) continue;
        define({std::string(name), dim->range}, valueOf(number(std::string(name), dim->range, Domain{}, true)), name);
        open.push_back(name);
      }
    }
    std::vector<Condition> parts;
    if (!posts(parts)) return false;
    for (std::size_t i = 0; i < decl.results.size(); ++i) {
      if (ast::dynCast<ast::TensorType>(decl.results[i].type) == nullptr) {
        contract.results.emplace_back();  // a list of tensors: as many as the arguments say
        continue;
      }
      if (!resultShape(i, parts, why)) return false;
    }
    if (!requiredOfResults(parts)) return false;
    model.post = join(Condition::Kind::And, std::move(parts), decl.name.range);
    return true;
  }

  /// What `requires` says of the dimensions of results.
  bool requiredOfResults(std::vector<Condition>& parts) {
    for (std::size_t i = 0; i < decl.results.size(); ++i) {
      const ast::Result& result = decl.results[i];
      if (!contract.results[i] || (result.name.empty() && decl.results.size() > 1)) continue;
      std::vector<Value> dims;
      for (const SymbolId symbol : *contract.results[i]) dims.push_back(valueOf(symbol));
      define(result.name, Value::list(std::move(dims)), result.name.empty() ? std::string_view("result") : std::string_view());
    }
    return std::all_of(decl.requirements.begin(), decl.requirements.end(), [&](const ast::Expr* one) {
      return !sema::namesResults(decl, *one) || forEachRequired(*one, [&](ExprId expr) {
        Condition made;
        made.range = one->range;
        made.expr = expr;
        made.text = sourceText(session.sources, one->range);
        contract.promises.push_back(expr);
        parts.push_back(std::move(made));
        return true;
      });
    });
  }

  bool posts(std::vector<Condition>& parts) {
    for (const ast::Expr* clause : decl.post) {
      for (const ast::Expr* part : conjunctsOf(*clause)) {
        const auto* equation = ast::dynCast<ast::Binary>(part);
        const bool equal = equation != nullptr && equation->op == ast::BinaryOp::Equal;
        const std::string_view name = equal ? nameOf(*equation->left) : std::string_view();
        if (!name.empty() && find(name) == nullptr) {  // a name for the results' other dimensions
          Value value = evaluate(*equation->right);
          if (value.isPoison()) return false;
          define({std::string(name), equation->left->range}, std::move(value), name);
          continue;
        }
        std::optional<Condition> one = condition(*part, false);
        if (!one) return false;
        contract.promises.push_back(one->expr);
        parts.push_back(std::move(*one));
      }
    }
    return true;
  }

  bool resultShape(std::size_t i, std::vector<Condition>& parts, std::string& why) {
    const ast::Result& result = decl.results[i];
    std::string name = result.name.empty() ? "result" : result.name.text;
    if (result.name.empty() && decl.results.size() > 1) name += std::to_string(i);
    std::vector<SymbolId> dims;
    for (const ast::Expr* each : ast::cast<ast::TensorType>(*result.type).dims) {
      const ast::Expr& dim = *each;
      const auto* splice = ast::dynCast<ast::Splice>(&dim);
      const ast::Expr& inner = splice != nullptr ? *splice->value : dim;
      const std::string_view word = nameOf(inner);
      if (const auto free = std::find(open.begin(), open.end(), word); splice == nullptr && free != open.end()) {
        dims.push_back(*symbolOf(word));
        open.erase(free);  // met again, it must agree
        continue;
      }
      if (splice != nullptr && !word.empty() && find(word) == nullptr) {
        why = fmt::format("nothing says how many dimensions `..{}` of a result has", word);
        return false;
      }
      const std::optional<sema::SharedVector<Value>> wanted = dimensions(inner, splice != nullptr);
      if (!wanted) return false;
      for (const Value& one : *wanted) {
        dims.push_back(number(fmt::format("{}[{}]", name, dims.size()), dim.range, Domain{}, true));
        Condition made;
        made.range = dim.range;
        made.expr = pool.make(ExprOp::Equal, pool.symbolRef(dims.back()), one.expr);
        made.text = pool.str(made.expr);
        parts.push_back(std::move(made));
      }
    }
    contract.results.emplace_back(std::move(dims));
    return true;
  }

  const sema::Local* find(std::string_view name) { return frame->find(name); }
  std::optional<SymbolId> symbolOf(std::string_view name) { return pool[frame->find(name)->value.expr].symbol; }
  void define(const ast::Name& name, Value value, std::string_view lasting = {}) {
    frame->define(lasting.empty() ? std::string_view(name.text) : lasting, std::move(value), name.range);
  }

  Contract& contract;
  const ast::Callable& decl;
  std::vector<std::string_view> open;  ///< outputs whose dimension is not met yet
};

}  // namespace

bool Contract::demands(SrcRange range) const {
  const auto within = [&](SrcRange outer) { return outer.begin <= range.begin && range.end <= outer.end; };
  const auto holds = [&](const ast::Expr* one) { return within(one->range); };
  return std::any_of(decl->pre.begin(), decl->pre.end(), holds) ||
         std::any_of(decl->requirements.begin(), decl->requirements.end(), holds) ||
         std::any_of(decl->tensors.begin(), decl->tensors.end(), [&](const auto& one) { return within(one.range); });
}

std::optional<Contract> readContract(Session& session, const sema::Program& program, const sema::Module& module,
                                     const ast::Callable& callable, std::size_t rank, std::string& why) {
  const std::deque<Diagnostic> before = session.sink.all();
  const bool hasDefault = std::any_of(callable.parameters.begin(), callable.parameters.end(),
                                      [](const ast::Parameter& one) { return one.defaultValue != nullptr; });
  std::string firstWhy;
  for (const bool keepsDefaults : {false, true}) {
    for (const std::size_t length : kLengths) {
      std::optional<Contract> contract(std::in_place);
      contract->decl = &callable;
      contract->rank = contract->isOptimizer() ? kWeightRank : rank;
      contract->length = length;
      contract->keepsDefaults = keepsDefaults;
      ProcessModel& model = contract->model;
      model.decl = &callable;
      model.pre = model.pool.constant(1);
      why.clear();
      session.sink.clear();
      ContractReader reader(session, program, module, *contract);
      const bool good = reader.run(why);
      std::string said = session.sink.all().empty() ? std::string() : session.sink.all().front().message;
      session.sink.clear();
      for (const Diagnostic& one : before) session.sink.append(one);
      if (good && !reader.isImpossible) return contract;
      if (why.empty()) why = good ? "nothing meets `pre`" : said;
    }
    if (!keepsDefaults) firstWhy = why;
    if (!hasDefault) break;
  }
  why = firstWhy;
  return std::nullopt;
}

}  // namespace tbem::spec
