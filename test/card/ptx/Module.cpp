// The outermost level of a PTX text.
#include "test/card/ptx/Module.h"

#include "test/card/ptx/Cursor.h"

namespace tbem::card {
namespace {

void parseList(Cursor& cursor, FunctionText& function, std::vector<std::uint32_t>& indices) {
  cursor.expectMark('(');
  while (!cursor.takeMark(')')) {
    if (!cursor.takeWord(".param")) cursor.fail("`.param` (parameters in registers are not supported)");
    indices.push_back(static_cast<std::uint32_t>(function.variables.size()));
    function.variables.push_back(parseVariable(cursor, Space::Param, false));
    if (!cursor.isMark(')')) cursor.expectMark(',');
  }
}

std::uint64_t parseThreads(Cursor& cursor) {
  std::uint64_t threads = cursor.expectInteger();
  while (cursor.takeMark(',')) threads *= cursor.expectInteger();
  return threads;
}

void parseFunctionDirectives(Cursor& cursor, FunctionText& function) {
  while (true) {
    if (cursor.takeWord(".maxntid")) {
      function.mostThreads = parseThreads(cursor);
    } else if (cursor.takeWord(".reqntid")) {
      function.mostThreads = parseThreads(cursor);
      function.exactThreads = true;
    } else if (cursor.takeWord(".minnctapersm") || cursor.takeWord(".maxnreg")) {
      cursor.expectInteger();
    } else if (!cursor.takeWord(".noreturn")) {
      return;
    }
  }
}

FunctionText parseFunction(Cursor& cursor, bool entry) {
  FunctionText function;
  function.entry = entry;
  function.line = cursor.line();
  if (!entry && cursor.isMark('(')) parseList(cursor, function, function.results);
  function.name = cursor.expectName("the name of a function");
  if (cursor.isMark('(')) parseList(cursor, function, function.parameters);
  parseFunctionDirectives(cursor, function);
  if (cursor.takeMark(';')) return function;
  function.body = true;
  parseBody(cursor, function);
  return function;
}

void passSection(Cursor& cursor) {
  while (!cursor.ended() && !cursor.isMark('{')) cursor.take();
  cursor.expectMark('{');
  while (!cursor.takeMark('}')) {
    if (cursor.ended()) cursor.fail("`}`");
    cursor.take();
  }
}

void parseFile(Cursor& cursor) {
  cursor.expectInteger();
  cursor.take();
  while (cursor.takeMark(',')) cursor.expectInteger();
}

/// The number of "sm_75"; letters behind it (sm_90a) name what only one card has.
unsigned targetOf(Cursor& cursor) {
  const unsigned line = cursor.line();
  const std::string name = cursor.expectName("a target");
  unsigned number = 0;
  std::size_t at = 3;
  for (; name.starts_with("sm_") && at < name.size() && name[at] >= '0' && name[at] <= '9'; ++at)
    number = number * 10 + static_cast<unsigned>(name[at] - '0');
  if (number == 0 || at != name.size()) throw PtxFailure(line, "expected a target such as sm_75, found `" + name + "`");
  while (cursor.takeMark(',')) cursor.take();
  return number;
}

unsigned versionOf(Cursor& cursor) {
  const Token& token = cursor.peek();
  const std::size_t point = token.text.find('.');
  if (token.kind != Token::Kind::Real64 || point + 2 != token.text.size()) cursor.fail("a version such as 6.3");
  cursor.take();
  return static_cast<unsigned>(std::stoul(std::string(token.text.substr(0, point)))) * 10 +
         static_cast<unsigned>(token.text.back() - '0');
}

void parseTop(Cursor& cursor, ModuleText& module) {
  bool external = false;
  while (true) {
    if (cursor.takeWord(".extern"))
      external = true;
    else if (!cursor.takeWord(".visible") && !cursor.takeWord(".weak") && !cursor.takeWord(".common"))
      break;
  }
  if (cursor.takeWord(".entry")) return module.functions.push_back(parseFunction(cursor, true));
  if (cursor.takeWord(".func")) return module.functions.push_back(parseFunction(cursor, false));
  for (const auto& [word, space] : {std::pair{".global", Space::Global}, {".const", Space::Const}, {".shared", Space::Shared}}) {
    if (!cursor.takeWord(word)) continue;
    do module.variables.push_back(parseVariable(cursor, space, external));
    while (cursor.takeMark(','));
    return cursor.expectMark(';');
  }
  if (cursor.takeWord(".file")) return parseFile(cursor);
  if (cursor.takeWord(".section")) return passSection(cursor);
  if (cursor.takeWord(".version"))
    module.version = versionOf(cursor);
  else if (cursor.takeWord(".target"))
    module.target = targetOf(cursor);
  else if (!cursor.takeWord(".address_size"))
    cursor.fail("a directive that this card knows");
  else if (const unsigned line = cursor.line(); cursor.expectInteger() != 64)
    throw PtxFailure(line, "addresses have 64 bits on this card");
}

}  // namespace

ModuleText parseModule(std::string_view text) {
  Cursor cursor(tokensOf(text));
  ModuleText module;
  while (!cursor.ended()) parseTop(cursor, module);
  if (module.version == 0 || module.target == 0) throw PtxFailure(1, "a PTX text starts with .version and .target");
  return module;
}

}  // namespace tbem::card
