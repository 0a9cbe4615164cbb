#include "compiler/syntax/parse/Parse.h"

#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/support/Bug.h"
#include "compiler/support/Unicode.h"
#include "compiler/syntax/layout/Layout.h"
#include "compiler/syntax/parse/Build.h"
#include "compiler/syntax/parse/ByteStream.h"
#include "compiler/syntax/parse/Errors.h"

#include <TbemLexer.h>
#include <TbemParser.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;

using Mode = antlr4::atn::PredictionMode;
constexpr std::size_t kMostErrors = 20;

antlr4::ParserRuleContext* runParser(P& parser, bool program) {
  if (program) return parser.program();
  return parser.expression();
}

void setMode(P& parser, Mode mode) { parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(mode); }

void reportDepth(const grammar::TooDeep& deep, const Source& source, DiagnosticSink& sink) {
  const auto begin = source.base + static_cast<Loc>(std::min(deep.where->getStartIndex(), source.text.size()));
  sink.report(diag::syntax_too_deep, {begin, begin});
}

struct Tree {
  antlr4::ParserRuleContext* root = nullptr;
  bool repaired = false;  ///< it has mistakes, and perhaps broken parts
};

/// The tree; none where nesting was too deep. A correct program is read by the fast way (SLL, no error strategy); only if that
/// fails is it read again with reports.
Tree readTree(P& parser, antlr4::TokenStream& stream, bool program, const Source& source, DiagnosticSink& sink) {
  try {
    try {
      setMode(parser, Mode::SLL);
      parser.setErrorHandler(std::make_shared<antlr4::BailErrorStrategy>());
      return {runParser(parser, program), false};
    } catch (const antlr4::ParseCancellationException&) {
      stream.seek(0);
      parser.reset();
      parser.forgetOpenRules();
      setMode(parser, Mode::LL);
      parser.setErrorHandler(std::make_shared<ErrorStrategy>(source, sink));
      return {runParser(parser, program), true};
    }
  } catch (const grammar::TooDeep& deep) {
    reportDepth(deep, source, sink);
    return {};
  } catch (const std::exception& error) {
    TBEM_BUG("the parser's runtime failed: {}", error.what());
  }
}

/// How much a report is worth where its line has others: slips and what the tree builder says stand for themselves; of the rest
/// the first of the lowest rank on a line is told.
int rank(Diag kind) {
  switch (kind) {
    case diag::syntax_unclosed:
    case diag::syntax_wrong_closer:
    case diag::syntax_unmatched:
      return 1;
    case diag::syntax_touching:
    case diag::syntax_sofl_type:
      return 2;
    case diag::syntax_parameter_type:
    case diag::syntax_let_type:
    case diag::syntax_shape_brackets:
    case diag::syntax_results_arrow:
    case diag::syntax_body_braces:
    case diag::syntax_skip_when:
      return 3;
    case diag::syntax_unexpected:
    case diag::syntax_no_declaration:
    case diag::syntax_no_statement:
    case diag::syntax_no_clause:
      return 4;
    case diag::syntax_clause_one:  // what follows the word was not understood
      return 5;
    default:
      return 0;
  }
}

/// Hands on what was found, in the order of the text. Where braces do not balance, plain "unexpected" ones are not told: most
/// come of the brace.
void handOn(const DiagnosticSink& found, const Source& source, bool bracesLost, DiagnosticSink& sink) {
  const auto line = [&](const Diagnostic& each) {
    return std::upper_bound(source.lineStarts.begin(), source.lineStarts.end(), each.range.begin - source.base) -
           source.lineStarts.begin();
  };
  std::vector<const Diagnostic*> list;
  std::map<std::ptrdiff_t, int> best;
  for (const Diagnostic& each : found.all()) {
    list.push_back(&each);
    if (each.severity != Severity::Error) continue;
    const auto [place, isNew] = best.emplace(line(each), rank(each.kind));
    if (!isNew) place->second = std::min(place->second, rank(each.kind));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Diagnostic* a, const Diagnostic* b) { return a->range.begin < b->range.begin; });
  std::size_t told = 0;
  std::set<std::ptrdiff_t> taken;
  const std::size_t before = sink.errorCount();
  for (const Diagnostic* each : list) {
    const int worth = rank(each->kind);
    if (worth == 4 && bracesLost) continue;
    if (worth > 0 && (worth > best[line(*each)] || !taken.insert(line(*each)).second)) continue;
    if (each->severity == Severity::Error && ++told > kMostErrors) break;
    sink.append(*each);
  }
  if (sink.errorCount() > before) return;
  const auto first =
      std::find_if(list.begin(), list.end(), [](const Diagnostic* each) { return each->severity == Severity::Error; });
  if (first != list.end()) sink.append(**first);  // whatever is wrong, something is told
}
}  // namespace

std::unique_ptr<ast::File> parse(const Source& source, DiagnosticSink& sink) {
  auto file = std::make_unique<ast::File>();
  file->source = &source;
  if (const std::size_t at = firstNotUtf8(source.text); at != std::string::npos) {
    const Loc begin = source.base + static_cast<Loc>(at);
    const bool wide = source.text.starts_with("\xFF\xFE") || source.text.starts_with("\xFE\xFF");  // their byte order mark
    sink.report(diag::syntax_not_utf8, {begin, begin + 1}, static_cast<unsigned char>(source.text[at]))
        .note(fmt::format("a program is UTF-8: `iconv -f {} -t utf-8` converts it", wide ? "utf-16" : "latin1"));
    return file;
  }
  ByteStream input(source.text);
  grammar::TbemLexer lexer(&input);
  lexer.removeErrorListeners();
  DiagnosticSink found;
  LayoutResult layout = layOut(lexer, source, found);
  file->comments = std::move(layout.comments);
  if (layout.tokens.empty()) {  // the runtime takes no empty list
    handOn(found, source, layout.bracesLost, sink);
    return file;
  }
  const bool program = layout.hasDeclaration;
  antlr4::ListTokenSource tokens(std::move(layout.tokens));
  antlr4::CommonTokenStream stream(&tokens);
  P parser(&stream);
  parser.removeErrorListeners();
  const Tree tree = readTree(parser, stream, program, source, found);
  if (tree.root != nullptr) {
    Builder builder(source, layout.documentation, found, *file, tree.repaired);
    if (program)
      builder.program(static_cast<P::ProgramContext*>(tree.root));
    else
      builder.expression(static_cast<P::ExpressionContext*>(tree.root));
  }
  handOn(found, source, layout.bracesLost, sink);
  return file;
}

}  // namespace tbem::syntax
