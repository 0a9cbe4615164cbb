// Statements of a function.
#include "test/card/ptx/Cursor.h"

#include <utility>

namespace tbem::card {
namespace {

class Body {
public:
  Body(Cursor& cursor, FunctionText& function) : cursor_(cursor), function_(function) {
    scopes_.emplace_back();
    for (std::uint32_t at = 0; at < function.variables.size(); ++at) scopes_.back()[function.variables[at].name] = {false, at};
  }

  void block() {
    cursor_.expectMark('{');
    scopes_.emplace_back();
    while (!cursor_.takeMark('}')) {
      if (cursor_.ended()) cursor_.fail("`}`");
      statement();
    }
    scopes_.pop_back();
  }

private:
  struct Meaning {
    bool isRegister;
    std::uint32_t index;
  };
  using Scope = std::map<std::string, Meaning, std::less<>>;

  void statement() {
    if (cursor_.isMark('{')) return block();
    if (cursor_.takeMark(';')) return;
    if (cursor_.peek().kind == Token::Kind::Word && cursor_.isMark(':', 1)) return label();
    if (cursor_.peek().kind == Token::Kind::Word && cursor_.peek().text[0] == '.') return directive();
    instruction();
  }

  void label() {
    const std::string name(cursor_.take().text);
    cursor_.take();
    if (cursor_.takeWord(".branchtargets")) {
      do function_.branches[name].push_back(cursor_.expectName("a label"));
      while (cursor_.takeMark(','));
      return cursor_.expectMark(';');
    }
    if (!function_.labels.emplace(name, static_cast<std::uint32_t>(function_.statements.size())).second)
      cursor_.fail("each label once, and " + name + " stands twice");
  }

  void directive() {
    if (cursor_.takeWord(".reg")) return registers();
    for (const auto& [word, space] : {std::pair{".local", Space::Local}, {".shared", Space::Shared}, {".param", Space::Param}}) {
      if (!cursor_.takeWord(word)) continue;
      do {
        const Variable variable = parseVariable(cursor_, space, false);
        scopes_.back()[variable.name] = {false, static_cast<std::uint32_t>(function_.variables.size())};
        function_.variables.push_back(variable);
      } while (cursor_.takeMark(','));
      return cursor_.expectMark(';');
    }
    if (cursor_.takeWord(".pragma")) {
      cursor_.take();
      return cursor_.expectMark(';');
    }
    if (cursor_.takeWord(".loc")) {  // has no `;`
      for (int i = 0; i < 3; ++i) cursor_.expectInteger();
      while (cursor_.takeMark(',')) {  // function_name label+offset, inlined_at file line column
        cursor_.expectName("a property of a place");
        while (cursor_.peek().kind == Token::Kind::Integer || cursor_.isMark('+') ||
               (cursor_.peek().kind == Token::Kind::Word && cursor_.peek().text.starts_with("$L__info")))
          cursor_.take();
      }
      return;
    }
    cursor_.fail("a directive that this card knows");
  }

  void registers() {
    const Type type = cursor_.expectType();
    do {
      const std::string name = cursor_.expectName("the name of a register");
      if (!cursor_.takeMark('<')) {
        addRegister(name, type);
        continue;
      }
      const std::uint64_t count = cursor_.expectInteger();
      cursor_.expectMark('>');
      for (std::uint64_t at = 0; at < count; ++at) addRegister(name + std::to_string(at), type);
    } while (cursor_.takeMark(','));
    cursor_.expectMark(';');
  }

  void addRegister(const std::string& name, Type type) {
    scopes_.back()[name] = {true, static_cast<std::uint32_t>(function_.registers.size())};
    function_.registers.push_back({name, type});
  }

  const Meaning* find(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto entry = scope->find(name); entry != scope->end()) return &entry->second;
    return nullptr;
  }

  std::uint32_t expectRegister() {
    const Meaning* meaning = find(cursor_.peek().text);
    if (meaning == nullptr || !meaning->isRegister) cursor_.fail("a register");
    cursor_.take();
    return meaning->index;
  }

  void instruction() {
    Statement statement;
    if (cursor_.takeMark('@')) {
      statement.guarded = true;
      statement.guardNegated = cursor_.takeMark('!');
      statement.guard = expectRegister();
      if (function_.registers[statement.guard].type != Type::Pred) cursor_.fail("a predicate before this");
    }
    statement.line = cursor_.line();
    const std::string words = cursor_.expectName("an instruction");
    std::size_t from = 0;
    for (std::size_t dot = words.find('.'); from != std::string::npos; dot = words.find('.', from)) {
      const std::string part = words.substr(from, dot == std::string::npos ? dot : dot - from);
      if (from == 0)
        statement.opcode = part;
      else
        statement.modifiers.push_back(part);
      from = dot == std::string::npos ? dot : dot + 1;
    }
    while (!cursor_.takeMark(';')) {
      if (!statement.operands.empty()) cursor_.expectMark(',');
      statement.operands.push_back(operand());
    }
    function_.statements.push_back(std::move(statement));
  }

  Operand operand() {
    if (cursor_.takeMark('[')) return address();
    if (cursor_.takeMark('{')) return list('}');
    if (cursor_.takeMark('(')) return list(')');
    Operand first = simple();
    if (!cursor_.takeMark('|')) return first;
    Operand both;
    both.kind = Operand::Kind::List;
    both.parts = {std::move(first), simple()};
    return both;
  }

  Operand list(char end) {
    Operand all;
    all.kind = Operand::Kind::List;
    while (!cursor_.takeMark(end)) {
      if (!all.parts.empty()) cursor_.expectMark(',');
      all.parts.push_back(simple());
    }
    return all;
  }

  Operand address() {
    Operand place;
    place.kind = Operand::Kind::Address;
    place.parts.push_back(simple());
    // What is behind a name is read with the name.
    if (place.parts[0].kind == Operand::Kind::Variable || place.parts[0].kind == Operand::Kind::Name)
      place.bits = std::exchange(place.parts[0].bits, 0);
    else if (cursor_.takeMark('+') || cursor_.isMark('-'))
      place.bits = cursor_.expectSigned();
    cursor_.expectMark(']');
    return place;
  }

  Operand simple() {
    Operand value;
    value.negated = cursor_.takeMark('!');
    const bool minus = cursor_.takeMark('-');
    const Token token = cursor_.take();
    value.bits = minus ? 0 - token.value : token.value;
    switch (token.kind) {
      case Token::Kind::Integer:
        value.kind = Operand::Kind::Integer;
        return value;
      case Token::Kind::Real32:
        value.kind = Operand::Kind::Real32;
        value.bits = token.value ^ (minus ? 0x80000000U : 0U);
        return value;
      case Token::Kind::Real64:
        value.kind = Operand::Kind::Real64;
        value.bits = token.value ^ (minus ? 1ULL << 63 : 0);
        return value;
      case Token::Kind::Word:
        return named(std::string(token.text), value.negated);
      default:
        throw PtxFailure(token.line, "expected an operand, found `" + std::string(token.text) + "`");
    }
  }

  Operand named(const std::string& name, bool negated) {
    Operand value;
    value.negated = negated;
    if (name == "_") return value;
    if (const Meaning* meaning = find(name)) {
      value.kind = meaning->isRegister ? Operand::Kind::Register : Operand::Kind::Variable;
      value.index = meaning->index;
    } else {
      value.kind = name[0] == '%' ? Operand::Kind::Special : Operand::Kind::Name;
      value.name = name;
    }
    if (value.kind == Operand::Kind::Variable || value.kind == Operand::Kind::Name) {
      const bool offset = (cursor_.isMark('+') || cursor_.isMark('-')) &&
                          (cursor_.peek(1).kind == Token::Kind::Integer || cursor_.isMark('-', 1));
      if (offset) {
        cursor_.takeMark('+');
        value.bits = cursor_.expectSigned();
      }
    }
    return value;
  }

  Cursor& cursor_;
  FunctionText& function_;
  std::vector<Scope> scopes_;
};

}  // namespace

void parseBody(Cursor& cursor, FunctionText& function) { Body(cursor, function).block(); }

}  // namespace tbem::card
