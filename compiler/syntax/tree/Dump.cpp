#include "compiler/syntax/tree/Dump.h"

#include "compiler/syntax/tree/Dumper.h"

namespace tbem::syntax {

using namespace ast;

namespace {
const char* symbol(BinaryOp op) {
  static constexpr const char* symbols[] = {"+",  "-", "*",  "/", "div", "cdiv", "mod", "rem", "**", "=",
                                            "<>", "<", "<=", ">", ">=",  "and",  "or",  "=>",  "<=>"};
  return symbols[static_cast<std::size_t>(op)];
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

void Dumper::expr(const Expr* e) {
  if (e == nullptr) {
    out += "none";
    return;
  }
  switch (e->kind) {
    case NodeKind::Number:
      out += cast<Number>(*e).text;
      break;
    case NodeKind::Unit:
      add("{}_{}", cast<Unit>(*e).number, cast<Unit>(*e).unit.text);
      break;
    case NodeKind::String:
      out += quoted(cast<String>(*e).value);
      break;
    case NodeKind::Enumerator:
      add("<{}>", cast<Enumerator>(*e).name);
      break;
    case NodeKind::Bool:
      out += cast<Bool>(*e).value ? "true" : "false";
      break;
    case NodeKind::NameRef:
      out += cast<NameRef>(*e).name.text;
      break;
    case NodeKind::Old:
      add("~{}", cast<Old>(*e).name.text);
      break;
    case NodeKind::Error:
      out += "error";
      break;
    default:
      compound(*e);
  }
}

void Dumper::type(const Type* t) {
  if (t == nullptr) {
    out += "none";
  } else if (const auto* named = dynCast<NamedType>(t)) {
    out += named->name.text;
  } else if (const auto* list = dynCast<ListType>(t)) {
    static constexpr const char* words[] = {"list of ", "seq of ", "set of "};
    out += words[static_cast<std::size_t>(list->list)];
    type(list->element);
  } else if (const auto* members = dynCast<EnumType>(t)) {
    out += '{';
    for (const Name& each : members->members) add("{}<{}>", &each == members->members.data() ? "" : ", ", each.text);
    out += '}';
  } else {
    const auto& tensor = cast<TensorType>(*t);
    out += tensor.dtype.empty() ? "tensor" : tensor.dtype.text;
    out += '[';
    exprs(tensor.dims, ", ");
    out += ']';
  }
}

void Dumper::call(const Call& c) {
  out += "(call ";
  expr(c.callee);
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (c.separator == i) out += " ;";
    out += ' ';
    argument(c.arguments[i]);
  }
  out += ')';
}

void Dumper::compound(const Expr& e) {
  switch (e.kind) {
    case NodeKind::Member:
      out += "(. ";
      expr(cast<Member>(e).object);
      add(" {})", cast<Member>(e).member.text);
      break;
    case NodeKind::Index:
      out += "(index ";
      expr(cast<Index>(e).object);
      out += ' ';
      exprs(cast<Index>(e).items, " ");
      out += ')';
      break;
    case NodeKind::Call:
      call(cast<Call>(e));
      break;
    case NodeKind::Unary:
      form(cast<Unary>(e).op == UnaryOp::Not ? "not" : "neg", {cast<Unary>(e).operand});
      break;
    case NodeKind::Binary:
      form(symbol(cast<Binary>(e).op), {cast<Binary>(e).left, cast<Binary>(e).right});
      break;
    case NodeKind::IfExpr:
      form("if", {cast<IfExpr>(e).condition, cast<IfExpr>(e).then, cast<IfExpr>(e).otherwise});
      break;
    case NodeKind::List:
      form("list", cast<List>(e).items);
      break;
    case NodeKind::Tuple:
      form("tuple", cast<Tuple>(e).items);
      break;
    case NodeKind::Set:
      form("set", cast<Set>(e).items);
      break;
    case NodeKind::Range:
      form(cast<Range>(e).inclusive ? "..=" : "..", {cast<Range>(e).low, cast<Range>(e).high, cast<Range>(e).step});
      break;
    case NodeKind::Pipe:
      form("|>", {cast<Pipe>(e).input, cast<Pipe>(e).target});
      break;
    case NodeKind::Skip:
      form("skip", {cast<Skip>(e).computed, cast<Skip>(e).condition, cast<Skip>(e).leaving});
      break;
    case NodeKind::Splice:
      form("splice", {cast<Splice>(e).value});
      break;
    default:
      binders(e);
  }
}

void Dumper::binders(const Expr& e) {
  if (const auto* comprehension = dynCast<Comprehension>(&e)) {
    out += "(listof ";
    expr(comprehension->element);
    for (const auto& generator : comprehension->generators) {
      add(" for {} in ", generator.variable.text);
      expr(generator.domain);
    }
  } else if (const auto* record = dynCast<Record>(&e)) {
    out += "(record";
    for (const auto& field : record->fields) {
      add(" {}: ", field.name.text);
      expr(field.value);
    }
  } else {
    const auto& quantifier = cast<Quantifier>(e);
    add("({}", quantifier.universal ? "forall" : "exists");
    for (const auto& variable : quantifier.variables) {
      add(" {}: ", variable.name.text);
      expr(variable.domain);
    }
    out += " | ";
    expr(quantifier.body);
  }
  out += ')';
}

void Dumper::pattern(const Pattern& p) {
  for (std::size_t i = 0; i < p.names.size(); ++i) add("{}{}", i == 0 ? (p.isTuple ? "(" : "") : ", ", p.names[i].text);
  if (p.isTuple) out += ')';
}

void Dumper::statement(const Stmt& s) {
  line();
  switch (s.kind) {
    case NodeKind::Let:
      out += cast<Let>(s).isVar ? "var " : "let ";
      pattern(cast<Let>(s).pattern);
      out += " = ";
      expr(cast<Let>(s).value);
      break;
    case NodeKind::Assign:
      pattern(cast<Assign>(s).pattern);
      out += " = ";
      expr(cast<Assign>(s).value);
      break;
    case NodeKind::For:
      add("for {} in ", cast<For>(s).variable.text);
      expr(cast<For>(s).domain);
      if (!cast<For>(s).label.empty()) add(" as {}", cast<For>(s).label.text);
      body(cast<For>(s).body);
      break;
    case NodeKind::IfStmt:
      out += "if ";
      expr(cast<IfStmt>(s).condition);
      body(cast<IfStmt>(s).then);
      if (cast<IfStmt>(s).hasElse) {
        line();
        out += "else";
        body(cast<IfStmt>(s).otherwise);
      }
      break;
    case NodeKind::Return:
      out += "return ";
      expr(cast<Return>(s).value);
      break;
    case NodeKind::Exit:
      out += "exit ";
      expr(cast<Exit>(s).value);
      out += " when ";
      expr(cast<Exit>(s).condition);
      break;
    case NodeKind::Assert:
      out += "assert ";
      expr(cast<Assert>(s).condition);
      out += ", ";
      expr(cast<Assert>(s).message);
      break;
    default: {
      const auto& weight = cast<WeightStmt>(s);
      add("{} {}: ", weight.isBuffer ? "buffer" : "weight", weight.name.text);
      type(weight.type);
      out += " init ";
      expr(weight.init);
      out += " if ";
      expr(weight.condition);
    }
  }
}

void Dumper::body(const Block& b) {
  ++indent;
  for (const Stmt* each : b) statement(*each);
  --indent;
}

std::string dump(const ast::File& file) {
  Dumper dumper;
  if (file.version) dumper.out += fmt::format("tbem {}\n", *file.version);
  if (file.expression != nullptr) {
    dumper.expr(file.expression);
    dumper.out += '\n';
  }
  for (const Decl* each : file.declarations) dumper.declaration(*each);
  return std::move(dumper.out);
}

std::string dump(const ast::Expr& expr) {
  Dumper dumper;
  dumper.expr(&expr);
  return std::move(dumper.out);
}

std::string dump(const ast::Type& type) {
  Dumper dumper;
  dumper.type(&type);
  return std::move(dumper.out);
}

}  // namespace tbem::syntax
