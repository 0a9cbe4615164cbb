#include "compiler/syntax/tree/Dumper.h"

namespace tbem::syntax {

using namespace ast;

void Dumper::parameters(const char* head, const std::vector<Parameter>& list) {
  for (const Parameter& each : list) {
    line();
    add("{} {}: ", head, each.name.text);
    type(each.type);
    out += " in ";
    expr(each.domain);
    out += " = ";
    expr(each.defaultValue);
  }
}

void Dumper::clauseExpr(const char* word, const Expr* e) {
  if (e == nullptr) return;
  line();
  add("{} ", word);
  expr(e);
}

void Dumper::parts(const char* word, const std::vector<Part>& list) {
  for (const Part& each : list) {
    line();
    add("{} {}: ", word, each.name.text);
    expr(each.value);
  }
}

void Dumper::clauses(const std::vector<Clause>& list) {
  for (const Clause& each : list) {
    line();
    out += each.word.text;
    for (const Argument& item : each.items) {
      out += ' ';
      argument(item);
    }
    if (each.on == nullptr) continue;
    out += " on ";
    expr(each.on);
  }
}

void Dumper::budgets(const std::vector<Budget>& list) {
  for (const Budget& each : list) {
    clauseExpr("budget", each.limit);
    if (each.on == nullptr) continue;
    out += " on ";
    expr(each.on);
  }
}

void Dumper::names(const char* word, const std::vector<Name>& list) {
  if (list.empty()) return;
  line();
  out += word;
  for (const Name& each : list) add(" {}", each.text);
}

void Dumper::callable(const Callable& c) {
  static constexpr const char* kinds[] = {"operator", "block", "network", "dataset"};
  static_assert(std::size(kinds) == static_cast<std::size_t>(CallableKind::Dataset) + 1);
  out += kinds[static_cast<std::size_t>(c.callable)];
  add(" {}", c.name.text);
  ++indent;
  parameters("tensor", c.tensors);
  parameters("parameter", c.parameters);
  for (const Result& each : c.results) {
    line();
    add("result {}: ", each.name.text);
    type(each.type);
  }
  for (const Expr* each : c.pre) clauseExpr("pre", each);
  for (const Expr* each : c.post) clauseExpr("post", each);
  for (const Expr* each : c.requirements) clauseExpr("requires", each);
  for (const WeightStmt* each : c.weights) statement(*each);
  parts("elementwise", c.elementwise);
  clauseExpr("native", c.native);
  clauseExpr("native", c.nativeSymbol);
  parts("flops", c.flops);
  clauseExpr("workspace", c.workspace);
  parts("backward", c.backward);
  parts("updates", c.updates);
  if (!c.fallback.empty()) names("fallback", {c.fallback});
  if (c.hasBody) {
    line();
    out += "body";
    body(c.body);
  }
  --indent;
}

void Dumper::process(const Process& p) {
  add("process {}", p.name.text);
  ++indent;
  for (std::size_t i = 0; i < p.inputs.size(); ++i) parameters(fmt::format("input {}", i).c_str(), p.inputs[i]);
  for (std::size_t i = 0; i < p.outputs.size(); ++i) parameters(fmt::format("output {}", i).c_str(), p.outputs[i]);
  for (const auto& each : p.externals) {
    line();
    add("ext {} {}: ", each.writes ? "wr" : "rd", each.name.text);
    type(each.type);
  }
  clauseExpr("pre", p.pre);
  clauseExpr("post", p.post);
  if (!p.comment.empty()) {
    line();
    add("comment {}", quoted(p.comment));
  }
  --indent;
}

void Dumper::design(const Design& d) {
  add("design {} of ", d.name.text);
  expr(d.of);
  ++indent;
  for (const Factor& each : d.factors) {
    line();
    add("factor {}: ", each.name.text);
    exprs(each.levels, ", ");
    if (!each.parent.empty()) {
      add(" under {} = ", each.parent.text);
      expr(each.parentLevel);
    }
  }
  for (const Input& each : d.inputs) {
    clauseExpr(("input " + each.name.text + ":").c_str(), each.shape);
    if (each.parent.empty()) continue;
    add(" under {} = ", each.parent.text);
    expr(each.parentLevel);
  }
  clauseExpr("task", d.task);
  clauseExpr("strength", d.strength);
  clauseExpr("covering", d.covering);
  clauseExpr("within", d.within);
  clauseExpr("rows", d.rows);
  clauseExpr("array", d.array);
  clauseExpr("seed", d.seed);
  if (d.full) names("full", {d.name});
  for (const Expr* each : d.where) clauseExpr("where", each);
  if (d.filter) names("filter", {d.name});
  clauseExpr("dtype", d.dtype);
  clauseExpr("math", d.math);
  clauseExpr("accumulate", d.accumulate);
  clauseExpr("mixed", d.mixed);
  clauseExpr("checkpoint", d.checkpoint);
  clauses(d.groups);
  budgets(d.budgets);
  --indent;
}

void Dumper::mutate(const Mutate& m) {
  add("mutate {} of {}", m.name.text, m.base.text);
  ++indent;
  for (const Mutate::Operation& each : m.operations) {
    line();
    add("{} ", each.word.text);
    expr(each.inserted);
    add(" {} ", each.where.text);
    expr(each.path);
    add(" as {}: ", each.as.text);
    exprs(each.levels, ", ");
  }
  --indent;
}

void Dumper::experiment(const Decl& d) {
  if (const auto* measure = dynCast<Measure>(&d)) {
    add("measure {}", measure->name.text);
    ++indent;
    names("on", measure->backends);
    names("metric", measure->metrics);
    clauseExpr("repeat", measure->repeat);
    clauses(measure->others);
    --indent;
  } else if (const auto* regress = dynCast<Regress>(&d)) {
    add("regress {} from {}", regress->name.text, regress->from.text);
    ++indent;
    clauseExpr("response", regress->response);
    clauseExpr("terms", regress->terms);
    if (!regress->validate.empty()) names("validate", {regress->validate});
    clauses(regress->others);
    --indent;
  } else if (const auto* predict = dynCast<Predict>(&d)) {
    add("predict {} at ", predict->regression.text);
    expr(predict->at);
  } else if (const auto* fit = dynCast<Fit>(&d)) {
    add("fit {} over {} at ", fit->design.text, fit->over.text);
    exprs({fit->at, fit->into, fit->device}, ", ");
  } else if (const auto* dataset = dynCast<Dataset>(&d)) {
    add("dataset {} = ", dataset->name.text);
    expr(dataset->value);
  } else if (const auto* train = dynCast<Train>(&d)) {
    add("train {} = ", train->name.text);
    exprs({train->network, train->data}, " on ");
    ++indent;
    clauses(train->clauses);
    --indent;
  } else if (const auto* perturb = dynCast<Perturb>(&d)) {
    add("perturb {} of {} on ", perturb->name.text, perturb->target.text);
    expr(perturb->data);
    ++indent;
    clauses(perturb->clauses);
    --indent;
  } else {
    const auto& assume = cast<Assume>(d);
    add("assume {} in ", assume.input.text);
    expr(assume.domain);
  }
}

void Dumper::declaration(const Decl& d) {
  if (!d.documentation.empty()) add("doc {}\n", quoted(d.documentation));
  if (d.isPrivate) out += "private ";
  switch (d.kind) {
    case NodeKind::Import: {
      const auto& import = cast<Import>(d);
      out += "import";
      for (const Name& each : import.path) add(" {}", each.text);
      if (!import.alias.empty()) add(" as {}", import.alias.text);
      for (std::size_t i = 0; i < import.names.size(); ++i) add("{} {}", i == 0 ? ":" : ",", import.names[i].text);
      break;
    }
    case NodeKind::Constant:
      add("let {} = ", d.name.text);
      expr(cast<Constant>(d).value);
      break;
    case NodeKind::Function:
      add("function {} -> ", d.name.text);
      type(cast<Function>(d).result);
      ++indent;
      parameters("parameter", cast<Function>(d).parameters);
      --indent;
      body(cast<Function>(d).body);
      break;
    case NodeKind::Callable:
      callable(cast<Callable>(d));
      break;
    case NodeKind::Process:
      process(cast<Process>(d));
      break;
    case NodeKind::Design:
      design(cast<Design>(d));
      break;
    case NodeKind::Mutate:
      mutate(cast<Mutate>(d));
      break;
    default:
      experiment(d);
  }
  out += '\n';
}

}  // namespace tbem::syntax
