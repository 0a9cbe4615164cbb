// The fields of every node, once for both ways: `a(x, y)` writes or reads them. Inside compiler/syntax only.
#pragma once

#include "compiler/syntax/tree/Ast.h"

namespace tbem::syntax {

// clang-format off
template <class A> void fields(A& a, ast::Name& n) { a(n.text, n.range); }
template <class A> void fields(A& a, ast::Argument& n) { a(n.name, n.value, n.rest, n.range); }
template <class A> void fields(A& a, ast::Pattern& n) { a(n.names, n.isTuple, n.range); }
template <class A> void fields(A& a, ast::Parameter& n) { a(n.name, n.type, n.domain, n.defaultValue, n.range); }
template <class A> void fields(A& a, ast::Result& n) { a(n.name, n.type, n.range); }
template <class A> void fields(A& a, ast::Part& n) { a(n.name, n.value); }
template <class A> void fields(A& a, ast::Clause& n) { a(n.word, n.items, n.range, n.on); }
template <class A> void fields(A& a, ast::Budget& n) { a(n.limit, n.on, n.range); }
template <class A> void fields(A& a, ast::Factor& n) { a(n.name, n.levels, n.parent, n.parentLevel, n.range); }
template <class A> void fields(A& a, ast::Input& n) { a(n.name, n.shape, n.parent, n.parentLevel, n.range); }
template <class A> void fields(A& a, ast::Comprehension::Generator& n) { a(n.variable, n.domain); }
template <class A> void fields(A& a, ast::Record::Field& n) { a(n.name, n.value); }
template <class A> void fields(A& a, ast::Quantifier::Variable& n) { a(n.name, n.domain); }
template <class A> void fields(A& a, ast::Process::External& n) { a(n.writes, n.name, n.type); }
template <class A> void fields(A& a, ast::Mutate::Operation& n) {
  a(n.word, n.inserted, n.where, n.path, n.as, n.levels, n.range);
}

// Expressions
template <class A> void fields(A& a, ast::Number& n) { a(n.text); }
template <class A> void fields(A& a, ast::Unit& n) { a(n.number, n.unit); }
template <class A> void fields(A& a, ast::String& n) { a(n.value); }
template <class A> void fields(A& a, ast::Enumerator& n) { a(n.name); }
template <class A> void fields(A& a, ast::Bool& n) { a(n.value); }
template <class A> void fields(A& a, ast::NameRef& n) { a(n.name); }
template <class A> void fields(A& a, ast::Member& n) { a(n.object, n.member); }
template <class A> void fields(A& a, ast::Index& n) { a(n.object, n.items); }
template <class A> void fields(A& a, ast::Call& n) { a(n.callee, n.arguments, n.separator); }
template <class A> void fields(A& a, ast::Unary& n) { a(n.op, n.operand); }
template <class A> void fields(A& a, ast::Binary& n) { a(n.op, n.opRange, n.left, n.right); }
template <class A> void fields(A& a, ast::IfExpr& n) { a(n.condition, n.then, n.otherwise); }
template <class A> void fields(A& a, ast::List& n) { a(n.items); }
template <class A> void fields(A& a, ast::Comprehension& n) { a(n.element, n.generators); }
template <class A> void fields(A& a, ast::Tuple& n) { a(n.items); }
template <class A> void fields(A& a, ast::Record& n) { a(n.fields); }
template <class A> void fields(A& a, ast::Set& n) { a(n.items); }
template <class A> void fields(A& a, ast::Range& n) { a(n.low, n.high, n.inclusive, n.step); }
template <class A> void fields(A& a, ast::Pipe& n) { a(n.input, n.target); }
template <class A> void fields(A& a, ast::Quantifier& n) { a(n.universal, n.variables, n.body); }
template <class A> void fields(A& a, ast::Skip& n) { a(n.computed, n.condition, n.leaving); }
template <class A> void fields(A& a, ast::Old& n) { a(n.name); }
template <class A> void fields(A& a, ast::Splice& n) { a(n.value); }
template <class A> void fields(A&, ast::Error&) {}

// Types
template <class A> void fields(A& a, ast::NamedType& n) { a(n.name); }
template <class A> void fields(A& a, ast::ListType& n) { a(n.list, n.element); }
template <class A> void fields(A& a, ast::EnumType& n) { a(n.members); }
template <class A> void fields(A& a, ast::TensorType& n) { a(n.dtype, n.dims); }

// Statements
template <class A> void fields(A& a, ast::Let& n) { a(n.isVar, n.pattern, n.value); }
template <class A> void fields(A& a, ast::Assign& n) { a(n.pattern, n.value); }
template <class A> void fields(A& a, ast::For& n) { a(n.variable, n.domain, n.label, n.body); }
template <class A> void fields(A& a, ast::IfStmt& n) { a(n.condition, n.then, n.hasElse, n.otherwise); }
template <class A> void fields(A& a, ast::Return& n) { a(n.value); }
template <class A> void fields(A& a, ast::Exit& n) { a(n.value, n.condition); }
template <class A> void fields(A& a, ast::Assert& n) { a(n.condition, n.message); }
template <class A> void fields(A& a, ast::WeightStmt& n) { a(n.isBuffer, n.name, n.type, n.init, n.condition); }

// Declarations: what all have stands in declFields
template <class A> void declFields(A& a, ast::Decl& n) { a(n.name, n.documentation, n.isPrivate); }
template <class A> void fields(A& a, ast::Import& n) { a(n.path, n.alias, n.names); }
template <class A> void fields(A& a, ast::Constant& n) { a(n.value); }
template <class A> void fields(A& a, ast::Function& n) { a(n.parameters, n.result, n.body); }
template <class A> void fields(A& a, ast::Callable& n) {
  a(n.callable, n.tensors, n.parameters, n.results, n.pre, n.post, n.requirements, n.weights, n.elementwise, n.native,
    n.nativeSymbol, n.flops, n.workspace, n.backward, n.updates, n.fallback, n.hasBody, n.body);
}
template <class A> void fields(A& a, ast::Process& n) { a(n.inputs, n.outputs, n.externals, n.pre, n.post, n.comment); }
template <class A> void fields(A& a, ast::Mutate& n) { a(n.base, n.operations); }
template <class A> void fields(A& a, ast::Design& n) {
  a(n.of, n.factors, n.inputs, n.task, n.strength, n.covering, n.within, n.rows, n.array, n.seed, n.full, n.fullRange, n.where,
    n.filter, n.filterRange, n.dtype, n.math, n.accumulate, n.mixed, n.checkpoint, n.groups, n.budgets);
}
template <class A> void fields(A& a, ast::Measure& n) { a(n.backends, n.metrics, n.repeat, n.others); }
template <class A> void fields(A& a, ast::Regress& n) { a(n.from, n.response, n.terms, n.validate, n.others); }
template <class A> void fields(A& a, ast::Predict& n) { a(n.regression, n.at); }
template <class A> void fields(A& a, ast::Fit& n) { a(n.design, n.at, n.over, n.into, n.device); }
template <class A> void fields(A& a, ast::Dataset& n) { a(n.value); }
template <class A> void fields(A& a, ast::Train& n) { a(n.network, n.data, n.clauses); }
template <class A> void fields(A& a, ast::Perturb& n) { a(n.target, n.data, n.clauses); }
template <class A> void fields(A& a, ast::Assume& n) { a(n.input, n.domain); }
template <class A> void fields(A& a, ast::File& n) { a(n.version, n.comments, n.declarations, n.expression); }
// clang-format on

}  // namespace tbem::syntax
