// Declarations of variables.
#include "test/card/ptx/Cursor.h"

#include <bit>
#include <cstring>

namespace tbem::card {
namespace {

std::uint64_t initialValue(Cursor& cursor, Type type) {
  const bool negative = cursor.takeMark('-');
  const Token& token = cursor.peek();
  if (token.kind == Token::Kind::Word) cursor.fail("a number (addresses as initial values are not supported)");
  if (isReal(type) != (token.kind == Token::Kind::Real32 || token.kind == Token::Kind::Real64) &&
      token.kind != Token::Kind::Integer)
    cursor.fail("a number of the variable's type");
  cursor.take();
  switch (token.kind) {
    case Token::Kind::Integer:
      if (isReal(type)) cursor.fail("a number with bits or a point");
      return negative ? 0 - token.value : token.value;
    case Token::Kind::Real32:
      return negative ? token.value ^ 0x80000000U : token.value;
    case Token::Kind::Real64: {
      const double value = negative ? -std::bit_cast<double>(token.value) : std::bit_cast<double>(token.value);
      return type == Type::F32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) : std::bit_cast<std::uint64_t>(value);
    }
    default:
      cursor.fail("a number");
  }
}

void parseInitial(Cursor& cursor, Variable& variable) {
  const unsigned width = bytesOf(variable.type);
  variable.initial.resize(variable.bytes);
  std::size_t at = 0;
  const bool several = cursor.takeMark('{');
  do {
    if (several && cursor.isMark('}')) break;
    const std::uint64_t value = initialValue(cursor, variable.type);
    if (at + width > variable.bytes) cursor.fail("no more initial values");
    std::memcpy(variable.initial.data() + at, &value, width);
    at += width;
  } while (several && cursor.takeMark(','));
  if (several) cursor.expectMark('}');
}

}  // namespace

Variable parseVariable(Cursor& cursor, Space space, bool external) {
  Variable variable;
  variable.space = space;
  variable.line = cursor.line();
  std::uint64_t align = 0, lanes = 1;
  while (true) {
    if (cursor.takeWord(".align")) {
      align = cursor.expectInteger();
      if (!std::has_single_bit(align)) cursor.fail("an alignment that is a power of two");
    } else if (cursor.takeWord(".v2")) {
      lanes = 2;
    } else if (cursor.takeWord(".v4")) {
      lanes = 4;
    } else if (cursor.takeWord(".ptr")) {  // attributes of a pointer parameter: what it points to
      for (const char* word : {".global", ".shared", ".const", ".local"}) cursor.takeWord(word);
      if (cursor.takeWord(".align")) cursor.expectInteger();
    } else if (cursor.peek().kind == Token::Kind::Word && cursor.peek().text[0] == '.') {
      variable.type = cursor.expectType();
    } else {
      break;
    }
  }
  variable.name = cursor.expectName("the name of a variable");
  variable.bytes = bytesOf(variable.type) * lanes;
  variable.align = align != 0 ? align : variable.bytes;
  while (cursor.takeMark('[')) {
    if (cursor.takeMark(']')) {
      if (!external || space != Space::Shared) cursor.fail("a number of elements");
      variable.bytes = 0;
      variable.external = true;
    } else {
      variable.bytes *= cursor.expectInteger();
      cursor.expectMark(']');
    }
  }
  if (external && !variable.external) cursor.fail("a definition (variables of other modules are not supported)");
  if (cursor.takeMark('=')) parseInitial(cursor, variable);
  return variable;
}

}  // namespace tbem::card
