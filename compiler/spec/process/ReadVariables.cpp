// Unknowns by their types: numbers, truth values, members of enumerations, and sequences and sets of these.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/diagnostics/tables/Specification.h"
#include "compiler/spec/process/Reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::spec {

using sema::ExprOp;
using sema::Value;
using sema::ValueKind;

namespace {
constexpr std::int64_t kMostElements = 8;    ///< of a sequence or set that are looked at
constexpr std::int64_t kFewElements = 3;     ///< where nothing bounds them
constexpr std::int64_t kBeyond = 2;          ///< of an input, beyond its bound
constexpr int kDeepest = 3;                  ///< sequences in sequences in sequences
constexpr std::size_t kMostCandidates = 64;  ///< of a set that is one truth value for each

std::string wordOf(const ast::Type& type) {
  const auto* named = ast::dynCast<ast::NamedType>(&type);
  return named != nullptr ? named->name.text : std::string();
}
bool isWordType(const ast::Type& type) {
  return type.kind == ast::NodeKind::EnumType || wordOf(type) == "string" || wordOf(type) == "char";
}
}  // namespace

// ---- One unknown ------------------------------------------------------------------------------------------------------

SymbolId Reader::unknown(std::string name, SrcRange range, bool isOutput, bool isTruth, Domain domain) {
  Variable made;
  made.name = name;
  made.isOutput = isOutput;
  made.isTruth = isTruth;
  const SymbolId symbol = part(std::move(name), range, isOutput, made, std::move(domain));
  made.symbols = {symbol};
  model.variables.push_back(std::move(made));
  return symbol;
}

SymbolId Reader::part(std::string name, SrcRange range, bool isOutput, const Variable& of, Domain domain) {
  const SymbolId symbol = pool.symbol(name, range, domain.isReal);
  model.unknowns.push_back({std::move(name), range, isOutput, of.isTruth, of.isWord, {}});
  model.domains.push_back(std::move(domain));
  return symbol;
}

Value Reader::valueOf(SymbolId symbol) const {
  const ExprId expr = pool.symbolRef(symbol);
  const Unknown& one = model.unknowns[static_cast<std::size_t>(symbol)];
  if (one.isTruth) return Value::boolean(expr);
  return one.isWord ? wordValue(expr) : Value::number(expr, model.domains[static_cast<std::size_t>(symbol)].isReal);
}

Value Reader::wordValue(ExprId expr) const {
  Value made = Value::ofKind(ValueKind::Word);
  made.expr = expr;
  return made;
}

Value Reader::itemValue(const Variable& variable, ExprId expr, bool isReal) const {
  if (variable.isTruth) return Value::boolean(expr);
  return variable.isWord ? wordValue(expr) : Value::number(expr, isReal);
}

// ---- Words ------------------------------------------------------------------------------------------------------------

/// The number of a word; a new one where it is met first.
std::int64_t Reader::codeOf(const std::string& word) {
  const auto place = std::find(model.words.begin(), model.words.end(), word);
  const std::int64_t code = ProcessModel::kFirstWord + (place - model.words.begin());
  if (place != model.words.end()) return code;
  model.words.push_back(word);
  pool.nameConstant(code, word);
  return code;
}

Value Reader::enumerator(const ast::Enumerator& expr) {
  const std::string word = "<" + expr.name + ">";
  if (std::find(model.words.begin(), model.words.end(), word) != model.words.end()) return wordValue(pool.constant(codeOf(word)));
  ++mistakes;
  if (told(diag::unknown_member, expr.range) != nullptr) return {};
  Diagnostic& found = sink.report(diag::unknown_member, expr.range, word, model.decl->name.text);
  const std::string near = nearest(word, model.words);
  if (!near.empty()) found.note("did you mean `" + near + "`?").fix(expr.range, near);
  return {};
}

ExprId Reader::equalWords(const Value& a, const Value& b) {
  const auto exprOf = [&](const Value& value) {
    if (value.is(ValueKind::Word)) return value.expr;
    return value.is(ValueKind::String) ? pool.constant(codeOf("\"" + value.text() + "\"")) : sema::kNoExpr;
  };
  const ExprId left = exprOf(a), right = exprOf(b);
  return left == sema::kNoExpr || right == sema::kNoExpr ? sema::kNoExpr : pool.make(ExprOp::Equal, left, right);
}

/// The words that a type and an `in` allow.
std::optional<Domain> Reader::wordDomain(const std::string& name, const ast::Type& type, const ast::Expr* values) {
  Domain domain;
  if (const auto* members = ast::dynCast<ast::EnumType>(&type)) {
    for (const ast::Name& one : members->members) domain.levels.push_back(Rational::of(codeOf("<" + one.text + ">")));
  }
  if (values != nullptr) {
    const auto items = elements(evaluate(*values), values->range);
    if (!items) return std::nullopt;
    std::vector<Rational> chosen;
    for (const Value& item : *items) {
      const bool isText = item.is(ValueKind::String) && domain.levels.empty();
      const bool isMember = item.is(ValueKind::Word) && !domain.levels.empty() && domain.contains(*pool.constantValue(item.expr));
      if (!isText && !isMember) {
        fail(diag::wrong_kind, values->range, "`" + name + "`",
             domain.levels.empty() ? "texts after `in`" : "its members after `in`", kindName(item));
        return std::nullopt;
      }
      chosen.push_back(isText ? Rational::of(codeOf("\"" + item.text() + "\"")) : *pool.constantValue(item.expr));
    }
    domain.levels = std::move(chosen);
  }
  std::sort(domain.levels.begin(), domain.levels.end(), [](const Rational& a, const Rational& b) { return compare(a, b) < 0; });
  domain.levels.erase(std::unique(domain.levels.begin(), domain.levels.end()), domain.levels.end());
  return domain;
}

// ---- Values that a type allows ----------------------------------------------------------------------------------------

std::optional<Domain> Reader::domainOf(const std::string& name, const ast::Type& type, const ast::Expr* values) {
  if (isWordType(type)) return wordDomain(name, type, values);
  const std::string word = wordOf(type);
  Domain domain = word == "bool" ? Domain::truth() : Domain{};
  domain.isReal = word == "real";
  if (word == "nat" || word == "nat0") domain.low = word == "nat" ? 1 : 0;
  if (values == nullptr) return domain;
  const Value given = evaluate(*values);
  if (given.is(ValueKind::Range) && pool.constantValue(given.items[2].expr) == Rational::of(1)) {
    const auto low = pool.constantValue(given.items[0].expr);
    const auto high = pool.constantValue(given.items[1].expr);
    if (low && high && low->isInt() && high->isInt()) {
      domain.low = std::max(low->num, domain.low.value_or(low->num));
      domain.high = given.inclusive ? high->num : high->num - 1;
      return domain;
    }
  }
  const auto items = elements(given, values->range);
  if (!items) return std::nullopt;
  for (const Value& item : *items) {
    const auto value = item.is(ValueKind::Number) || item.is(ValueKind::Bool) ? pool.constantValue(item.expr) : std::nullopt;
    if (!value || !Domain{{}, domain.low, {}, domain.isReal}.contains(*value)) {
      fail(diag::wrong_kind, values->range, "`" + name + "`", word + " values after `in`", value ? value->str() : kindName(item));
      return std::nullopt;
    }
    domain.levels.push_back(*value);
  }
  std::sort(domain.levels.begin(), domain.levels.end(), [](const Rational& a, const Rational& b) { return compare(a, b) < 0; });
  domain.levels.erase(std::unique(domain.levels.begin(), domain.levels.end()), domain.levels.end());
  return domain;
}

bool Reader::refuseType(const Wanted& wanted, const ast::Type& type, const std::string& hint) {
  const std::string found(session.sources.text(type.range));
  Diagnostic& refusal = sink.report(diag::process_type, type.range, wanted.name.text, model.decl->name.text, found);
  if (!hint.empty()) refusal.note(hint);
  return false;
}

// ---- Variables --------------------------------------------------------------------------------------------------------

std::optional<Value> Reader::variable(const Wanted& wanted) {
  const ast::Type* leaf = &wanted.type;
  const ast::ListType* foreign = nullptr;
  int depth = 0;
  for (const auto* list = ast::dynCast<ast::ListType>(leaf); list != nullptr; list = ast::dynCast<ast::ListType>(leaf)) {
    if (list->list == ast::ListKind::List && foreign == nullptr) foreign = list;
    leaf = list->element;
    ++depth;
  }
  const std::string word = wordOf(*leaf);
  static constexpr std::string_view kTypes[] = {"int", "nat", "nat0", "real", "bool", "string", "char"};
  const bool known =
      leaf->kind == ast::NodeKind::EnumType || std::find(std::begin(kTypes), std::end(kTypes), word) != std::end(kTypes);
  std::string hint;
  if (foreign != nullptr)
    hint = "a process has sequences: `seq of " + std::string(session.sources.text(foreign->element->range)) + "`";
  else if (known && (word == "string" || word == "char") && wanted.values == nullptr)
    hint = fmt::format("say which values it may take: `{0}: {1} in {{\"a\", \"b\"}}`, or `{0}: {{<a>, <b>}}`", wanted.name.text,
                       word);
  else if (depth > kDeepest)
    hint = fmt::format("sequences and sets of sequences and sets are there up to {} deep", kDeepest);
  if (!known || !hint.empty()) {
    refuseType(wanted, wanted.type, hint);
    return std::nullopt;
  }
  std::optional<Domain> domain = domainOf(wanted.name.text, *leaf, wanted.values);
  if (!domain) return std::nullopt;
  Variable made;
  made.isTruth = word == "bool";
  made.isWord = isWordType(*leaf);
  Value value = build(wanted, *domain, made);
  model.variables.push_back(std::move(made));
  return value;
}

Value Reader::build(const Wanted& wanted, const Domain& leaf, Variable& made) {
  made.name = wanted.text;
  made.isOutput = wanted.isOutput;
  if (const auto* list = ast::dynCast<ast::ListType>(&wanted.type))
    return list->list == ast::ListKind::Set ? set(wanted, leaf, made) : sequence(wanted, leaf, made);
  made.symbols = {part(wanted.text, wanted.name.range, wanted.isOutput, made, leaf)};
  return valueOf(made.symbols.front());
}

namespace {
/// How many elements are looked at, and whether there may be more. Inputs that are too long are looked at too: they are to be
/// refused.
std::int64_t elementsOf(Variable& made, std::optional<std::int64_t> most) {
  made.isCut = !most || *most > kMostElements;
  if (!most) return kFewElements + (made.isOutput ? 1 : 0);
  return std::min(*most, kMostElements) + (made.isOutput ? 0 : kBeyond);
}

/// What would say how many elements there are, as SizeBounds reads it.
std::string boundOf(const std::string& name, const char* size, int depth) {
  if (depth == 0) return fmt::format("{}({}) <= {}", size, name, kMostElements);
  return depth == 1 ? fmt::format("forall[x: elems({})] | {}(x) <= {}", name, size, kMostElements) : "";
}
}  // namespace

/// Element `i` of a sequence or set.
Value Reader::element(const Wanted& wanted, const Domain& leaf, Variable& made, std::size_t i) {
  const ast::Type& type = *ast::cast<ast::ListType>(wanted.type).element;
  const std::string text = fmt::format("{}({})", wanted.text, i + 1);
  if (type.kind != ast::NodeKind::ListType) {
    made.symbols.push_back(part(text, wanted.name.range, wanted.isOutput, made, leaf));
    return valueOf(made.symbols.back());
  }
  Variable inner;
  inner.isTruth = made.isTruth;
  inner.isWord = made.isWord;
  Value value =
      build({wanted.name, text, type, nullptr, wanted.isOutput, {wanted.most.inside, {}}, wanted.depth + 1}, leaf, inner);
  made.elements.push_back(std::move(inner));
  return value;
}

Value Reader::sequence(const Wanted& wanted, const Domain& leaf, Variable& made) {
  made.shape = Variable::Shape::Sequence;
  made.bound = boundOf(wanted.depth == 0 ? wanted.text : wanted.name.text, "len", wanted.depth);
  const auto count = static_cast<std::size_t>(elementsOf(made, wanted.most.elements));
  made.size =
      part("len(" + wanted.text + ")", wanted.name.range, wanted.isOutput, {}, Domain{{}, 0, static_cast<std::int64_t>(count)});
  Value value = Value::ofKind(ValueKind::Sequence);
  value.expr = pool.symbolRef(*made.size);
  for (std::size_t i = 0; i < count; ++i) value.items.push_back(element(wanted, leaf, made, i));
  return value;
}

/// Of finitely many values each is in it or not; of others its members stand in ascending order, and sequences and sets differ.
Value Reader::set(const Wanted& wanted, const Domain& leaf, Variable& made) {
  made.shape = Variable::Shape::Set;
  made.bound = boundOf(wanted.depth == 0 ? wanted.text : wanted.name.text, "card", wanted.depth);
  const bool isNested = ast::cast<ast::ListType>(wanted.type).element->kind == ast::NodeKind::ListType;
  std::vector<Member> list;
  ExprId size = pool.constant(0);
  if (const auto candidates = isNested ? std::nullopt : leaf.values(kMostCandidates)) {
    Variable truth;
    truth.isTruth = true;
    for (const Rational& one : *candidates) {
      const std::string text = made.isWord ? model.wordOf(one) : made.isTruth ? one.num != 0 ? "true" : "false" : one.str();
      made.symbols.push_back(part(text + " inset " + wanted.text, wanted.name.range, wanted.isOutput, truth, Domain::truth()));
      const ExprId here = pool.symbolRef(made.symbols.back());
      size = pool.make(ExprOp::Add, size, pool.make(ExprOp::Select, here, pool.constant(1), pool.constant(0)));
      list.push_back({here, itemValue(made, pool.constant(one), leaf.isReal)});
    }
    made.candidates = *candidates;
  } else {
    const auto count = static_cast<std::size_t>(elementsOf(made, wanted.most.elements));
    made.size = part("card(" + wanted.text + ")", wanted.name.range, wanted.isOutput, {},
                     Domain{{}, 0, static_cast<std::int64_t>(count)});
    size = pool.symbolRef(*made.size);
    for (std::size_t i = 0; i < count; ++i) {
      const ExprId at = pool.constant(static_cast<std::int64_t>(i));
      list.push_back({pool.make(ExprOp::Less, at, size), element(wanted, leaf, made, i)});
      const auto beyondOr = [&](ExprId holds) {
        model.axioms.push_back(pool.make(ExprOp::Or, pool.make(ExprOp::LessEqual, size, at), holds));
      };
      if (!isNested && i > 0) beyondOr(pool.make(ExprOp::Less, list[i - 1].value.expr, list[i].value.expr));
      for (std::size_t k = 0; isNested && k < i; ++k) beyondOr(pool.make(ExprOp::Not, equal(list[k].value, list[i].value)));
    }
  }
  Value value = subset(list);
  value.expr = size;
  return value;
}

// ---- How many elements there are --------------------------------------------------------------------------------------

SizeBounds::Most Reader::mostElements(const std::string& name, bool isOutput) {
  return isOutput ? bounds->after(name) : bounds->before(name);
}

/// The greatest value of a number of the process.
std::optional<std::int64_t> Reader::highest(const std::string& name) {
  const ast::Process& process = *model.process;
  for (const auto* side : {&process.inputs, &process.outputs}) {
    for (const auto& list : *side) {
      for (const ast::Parameter& one : list) {
        if (one.name.text != name || one.domain == nullptr || one.type->kind != ast::NodeKind::NamedType || isWordType(*one.type))
          continue;
        const std::optional<Domain> domain = domainOf(name, *one.type, one.domain);
        const Interval hull = domain ? domain->hull() : Interval{};
        const std::optional<Rational> whole = hull.high ? floorDiv(*hull.high, Rational::of(1)) : std::nullopt;
        return whole ? std::optional(whole->num) : std::nullopt;
      }
    }
  }
  return std::nullopt;
}

}  // namespace tbem::spec
