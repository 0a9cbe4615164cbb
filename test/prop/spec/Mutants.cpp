#include "test/prop/spec/Mutants.h"

#include "compiler/sema/check/CheckNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tbem::test {

using sema::ExprNode;
using sema::ExprOp;

const char* word(Mutant::Change change) {
  constexpr const char* kWords[] = {"relation", "arithmetic", "constant", "logic", "variable", "dropped"};
  return kWords[static_cast<std::size_t>(change)];
}

// ---- Subjects ---------------------------------------------------------------------------------------------------------

namespace {
ExprId all(sema::ExprPool& pool, ExprId first, const std::vector<ExprId>& parts) {
  for (const ExprId one : parts) first = pool.make(ExprOp::And, first, one);
  return first;
}

}  // namespace

std::vector<ExprId> conjunctsOf(const sema::ExprPool& pool, ExprId condition) {
  if (pool[condition].op != ExprOp::And) return {condition};
  std::vector<ExprId> parts = conjunctsOf(pool, pool[condition].a);
  for (const ExprId one : conjunctsOf(pool, pool[condition].b)) parts.push_back(one);
  return parts;
}

namespace {
/// What a model's conditions say beside those that are mutated.
void setOthers(Subject& subject, ExprId pre, ExprId post) {
  sema::ExprPool& pool = subject.model.pool;
  const auto rest = [&](ExprId whole, const std::vector<ExprId>& mutated) {
    std::vector<ExprId> others;
    for (const ExprId one : conjunctsOf(pool, whole)) {
      if (std::find(mutated.begin(), mutated.end(), one) == mutated.end()) others.push_back(one);
    }
    return all(pool, pool.constant(1), others);
  };
  std::vector<ExprId> flat;
  for (const ExprId one : subject.pre) {
    for (const ExprId part : conjunctsOf(pool, one)) flat.push_back(part);
  }
  subject.otherPre = rest(pre, flat);
  flat.clear();
  for (const ExprId one : subject.post) {
    for (const ExprId part : conjunctsOf(pool, one)) flat.push_back(part);
  }
  subject.otherPost = rest(post, flat);
}
}  // namespace

Subjects::Subjects(const std::string& processes) {
  const std::string text = "import std.vision\nimport std.text\nimport std.adaptive\n" + processes;
  const Source& source = session.sources.add("processes.tbem", text);
  program = sema::load(session.sources, session.sink, source, {});
  sema::checkNames(*program, session.sink);
  if (session.sink.hasErrors()) throw std::runtime_error(session.sink.all().front().message);
  for (const char* name : {"std.nn", "std.vision", "std.text", "std.adaptive"}) {
    const sema::Module* module = program->find(name);
    if (module == nullptr) throw std::runtime_error(fmt::format("no module {}", name));
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) {
        if (const auto* callable = ast::dynCast<ast::Callable>(decl)) add(*module, *callable);
      }
    }
  }
  for (const ast::Decl* decl : program->main().files.front()->declarations) {
    if (const auto* process = ast::dynCast<ast::Process>(decl)) add(*process);
  }
}

void Subjects::add(const sema::Module& module, const ast::Callable& callable) {
  if (callable.pre.empty() && callable.post.empty() && callable.requirements.empty()) return;
  ++declared;
  std::string why;
  std::optional<spec::Contract> contract = spec::readContract(session, *program, module, callable, 2, why);
  if (!contract) {
    leftOut.push_back(callable.name.text + ": " + why);
    return;
  }
  Subject& subject = list.emplace_back();
  subject.name = callable.name.text;
  subject.model = std::move(contract->model);
  subject.scenarios = spec::deriveScenarios(session, subject.model);
  const auto varies = [&](ExprId one) { return !subject.model.pool.constantValue(one); };
  std::copy_if(contract->conditions.begin(), contract->conditions.end(), std::back_inserter(subject.pre), varies);
  std::copy_if(contract->promises.begin(), contract->promises.end(), std::back_inserter(subject.post), varies);
  setOthers(subject, subject.model.pre, subject.model.post.expr);
}

void Subjects::add(const ast::Process& process) {
  ++declared;
  std::optional<spec::CheckedProcess> checked = spec::checkProcess(session, *program, program->main(), process);
  if (!checked || checked->parenthesesLost) throw std::runtime_error(process.name.text + " is no sound process");
  Subject& subject = list.emplace_back();
  subject.name = process.name.text;
  subject.model = std::move(checked->model);
  subject.scenarios = std::move(checked->scenarios);
  const sema::ExprPool& pool = subject.model.pool;
  if (!pool.constantValue(subject.model.pre)) subject.pre = conjunctsOf(pool, subject.model.pre);
  subject.post = conjunctsOf(pool, subject.model.post.expr);
  setOthers(subject, subject.model.pre, subject.model.post.expr);
}

// ---- Mutants ----------------------------------------------------------------------------------------------------------

namespace {

class Mutator {
public:
  Mutator(Subject& subject, std::size_t number, std::vector<Mutant>& out)
      : model(subject.model), pool(subject.model.pool), subject(subject), number(number), out(out) {}

  void run() {
    for (const bool ofPost : {false, true}) {
      const std::vector<ExprId>& parts = ofPost ? subject.post : subject.pre;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        current = {Mutant::Change::Dropped, number, ofPost, i, pool.constant(1)};
        root = parts[i];
        offer(Mutant::Change::Dropped, pool.constant(1));
        std::vector<std::size_t> path;
        visit(root, path);
      }
    }
  }

private:
  void offer(Mutant::Change change, ExprId whole) {
    if (whole == root) return;
    current.change = change;
    current.changed = whole;
    out.push_back(current);
  }

  /// The root with another node at the path.
  ExprId rebuilt(ExprId at, const std::vector<std::size_t>& path, std::size_t depth, ExprId leaf) {
    if (depth == path.size()) return leaf;
    const ExprNode node = pool[at];
    ExprId operands[3] = {node.a, node.b, node.c};
    operands[path[depth]] = rebuilt(operands[path[depth]], path, depth + 1, leaf);
    return pool.make(node.op, operands[0], operands[1], operands[2]);
  }

  void visit(ExprId id, std::vector<std::size_t>& path) {
    const ExprNode node = pool[id];
    const auto put = [&](Mutant::Change change, ExprId other) { offer(change, rebuilt(root, path, 0, other)); };
    const auto op = [&](Mutant::Change change, ExprOp other) { put(change, pool.make(other, node.a, node.b)); };
    using enum Mutant::Change;
    switch (node.op) {
      case ExprOp::Less:
        op(Relation, ExprOp::LessEqual);
        op(Relation, ExprOp::Equal);
        put(Relation, pool.make(ExprOp::Less, node.b, node.a));
        break;
      case ExprOp::LessEqual:
        op(Relation, ExprOp::Less);
        op(Relation, ExprOp::Equal);
        put(Relation, pool.make(ExprOp::LessEqual, node.b, node.a));
        break;
      case ExprOp::Equal:
        op(Relation, ExprOp::LessEqual);
        put(Relation, pool.make(ExprOp::LessEqual, node.b, node.a));
        put(Relation, pool.make(ExprOp::Not, id));
        break;
      case ExprOp::And:
        op(Logic, ExprOp::Or);
        put(Dropped, node.a);
        put(Dropped, node.b);
        break;
      case ExprOp::Or:
        op(Logic, ExprOp::And);
        put(Dropped, node.a);
        put(Dropped, node.b);
        break;
      case ExprOp::Not:
        put(Logic, node.a);
        break;
      case ExprOp::Add:
        op(Arithmetic, ExprOp::Sub);
        op(Arithmetic, ExprOp::Mul);
        break;
      case ExprOp::Sub:
        op(Arithmetic, ExprOp::Add);
        op(Arithmetic, ExprOp::Mul);
        break;
      case ExprOp::Mul:
        op(Arithmetic, ExprOp::Add);
        op(Arithmetic, ExprOp::Sub);
        break;
      case ExprOp::FloorDiv:
      case ExprOp::CeilDiv:
        op(Arithmetic, node.op == ExprOp::FloorDiv ? ExprOp::CeilDiv : ExprOp::FloorDiv);
        op(Arithmetic, ExprOp::Mod);
        op(Arithmetic, ExprOp::Mul);
        break;
      case ExprOp::Mod:
        op(Arithmetic, ExprOp::FloorDiv);
        op(Arithmetic, ExprOp::Sub);
        break;
      case ExprOp::Min:
        op(Arithmetic, ExprOp::Max);
        break;
      case ExprOp::Max:
        op(Arithmetic, ExprOp::Min);
        break;
      case ExprOp::Constant:
        if (!node.value.isInt() || isTruthAt(path)) break;
        put(Constant, pool.constant(node.value.num + 1));
        put(Constant, pool.constant(node.value.num - 1));
        break;
      case ExprOp::Symbol:
        swapVariable(node.symbol, put);
        break;
      default:
        break;
    }
    const ExprId operands[3] = {node.a, node.b, node.c};
    for (std::size_t k = 0; k < 3; ++k) {
      if (operands[k] == sema::kNoExpr) continue;
      path.push_back(k);
      visit(operands[k], path);
      path.pop_back();
    }
  }

  /// Whether the node at the path is compared with, or chosen beside, a truth value.
  bool isTruthAt(const std::vector<std::size_t>& path) const {
    if (path.empty()) return true;
    ExprId at = root;
    for (std::size_t k = 0; k + 1 < path.size(); ++k) at = operand(at, path[k]);
    const ExprNode& parent = pool[at];
    if (parent.op == ExprOp::And || parent.op == ExprOp::Or || parent.op == ExprOp::Not) return true;
    for (const ExprId side : {parent.a, parent.b}) {
      if (side != sema::kNoExpr && pool[side].op == ExprOp::Symbol &&
          model.unknowns[static_cast<std::size_t>(pool[side].symbol)].isTruth)
        return parent.op == ExprOp::Equal;
    }
    return false;
  }
  ExprId operand(ExprId at, std::size_t k) const { return k == 0 ? pool[at].a : k == 1 ? pool[at].b : pool[at].c; }

  /// The next unknown of the same type that is known where this one is.
  template <class Put>
  void swapVariable(sema::SymbolId symbol, const Put& put) {
    const auto s = static_cast<std::size_t>(symbol);
    const std::size_t count = model.unknowns.size();
    for (std::size_t k = 1; k < count; ++k) {
      const std::size_t other = (s + k) % count;
      const spec::Unknown& one = model.unknowns[other];
      if (one.isOutput != model.unknowns[s].isOutput || one.isTruth != model.unknowns[s].isTruth || one.isOutput) continue;
      if (model.domains[other].isReal != model.domains[s].isReal) continue;
      put(Mutant::Change::Variable, pool.symbolRef(static_cast<sema::SymbolId>(other)));
      return;
    }
  }

  spec::ProcessModel& model;
  sema::ExprPool& pool;
  Subject& subject;
  std::size_t number;
  std::vector<Mutant>& out;
  Mutant current;
  ExprId root{};
};

}  // namespace

ExprId conditionOf(Subject& subject, const Mutant& mutant) {
  std::vector<ExprId> parts = mutant.ofPost ? subject.post : subject.pre;
  parts[mutant.conjunct] = mutant.changed;
  return all(subject.model.pool, mutant.ofPost ? subject.otherPost : subject.otherPre, parts);
}

std::vector<Mutant> allMutants(Subjects& subjects) {
  std::vector<Mutant> list;
  for (std::size_t i = 0; i < subjects.list.size(); ++i) Mutator(subjects.list[i], i, list).run();
  std::vector<Mutant> distinct;
  for (const Mutant& one : list) {
    const bool known = std::any_of(distinct.rbegin(), distinct.rend(), [&](const Mutant& other) {
      return other.subject == one.subject && other.ofPost == one.ofPost && other.conjunct == one.conjunct &&
             other.changed == one.changed;
    });
    if (!known) distinct.push_back(one);
  }
  return distinct;
}

std::string describe(const Subjects& subjects, const Mutant& mutant) {
  const Subject& subject = subjects.list[mutant.subject];
  const ExprId before = (mutant.ofPost ? subject.post : subject.pre)[mutant.conjunct];
  return fmt::format("{}: {} `{}` becomes `{}`", subject.name, mutant.ofPost ? "post" : "pre", subject.model.pool.str(before),
                     subject.model.pool.str(mutant.changed));
}

}  // namespace tbem::test
