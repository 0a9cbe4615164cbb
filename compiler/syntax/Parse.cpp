#include "compiler/syntax/Parse.h"

#include "compiler/syntax/Build.h"
#include "compiler/syntax/ByteStream.h"
#include "compiler/syntax/Layout.h"

#include <TbemLexer.h>
#include <TbemParser.h>

#include <utility>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;

class Errors : public antlr4::BaseErrorListener {
public:
  Errors(const Source& source, DiagnosticSink& sink) : source(source), sink(sink) {}
  void syntaxError(antlr4::Recognizer*, antlr4::Token* token, std::size_t, std::size_t, const std::string& message, std::exception_ptr) override {
    if (token == nullptr) return;
    const auto begin = source.base + static_cast<Loc>(token->getStartIndex());
    sink.report(Diag::syntax_unexpected, {begin, source.base + static_cast<Loc>(token->getStopIndex() + 1)}, message);
  }

private:
  const Source& source;
  DiagnosticSink& sink;
};

using Mode = antlr4::atn::PredictionMode;

antlr4::ParserRuleContext* runParser(P& parser, bool program) {
  if (program) return parser.program();
  return parser.expression();
}
}  // namespace

std::unique_ptr<ast::File> parse(const Source& source, DiagnosticSink& sink) {
  auto file = std::make_unique<ast::File>();
  file->source = &source;
  ByteStream input(source.text);
  grammar::TbemLexer lexer(&input);
  lexer.removeErrorListeners();
  LayoutResult layout = layOut(lexer, source, sink);
  file->comments = std::move(layout.comments);
  const bool program = layout.hasDeclaration || layout.tokens.empty();
  antlr4::ListTokenSource tokens(std::move(layout.tokens));
  antlr4::CommonTokenStream stream(&tokens);
  P parser(&stream);
  parser.removeErrorListeners();
  antlr4::ParserRuleContext* tree = nullptr;
  try {
    parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(Mode::SLL);
    parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
    tree = runParser(parser, program);
  } catch (const antlr4::ParseCancellationException&) {
    stream.seek(0);
    parser.reset();
    parser.forgetOpenRules();
    Errors errors(source, sink);
    parser.addErrorListener(&errors);
    parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(Mode::LL);
    parser.setErrorHandler(std::make_shared<antlr4::DefaultErrorStrategy>());
    try {
      tree = runParser(parser, program);
    } catch (const grammar::TooDeep&) {
      tree = nullptr;
    }
  } catch (const grammar::TooDeep& deep) {
    const auto begin = source.base + static_cast<Loc>(deep.where->getStartIndex());
    sink.report(Diag::syntax_too_deep, {begin, begin + 1});
    return file;
  }
  if (tree == nullptr) return file;
  Builder builder(source, layout.documentation, sink, *file);
  if (program) builder.program(static_cast<P::ProgramContext*>(tree));
  else builder.expression(static_cast<P::ExpressionContext*>(tree));
  return file;
}

}  // namespace tbem::syntax
