#include "compiler/syntax/format/Format.h"

#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/syntax/format/FormatPieces.h"
#include "compiler/syntax/parse/ByteStream.h"
#include "compiler/syntax/parse/Parse.h"
#include "compiler/syntax/tree/Dump.h"

#include <TbemLexer.h>

namespace tbem::syntax {

namespace {
constexpr int kWidth = 120;

/// The comments without what formatting may change: blanks at the ends of their lines.
std::vector<std::string> comments(const Source& source, const ast::File& file) {
  std::vector<std::string> list;
  for (const SrcRange& range : file.comments) {
    std::string text;
    for (std::size_t i = range.begin - source.base; i < range.end - source.base; ++i) {
      if (source.text[i] == '\r') continue;
      if (source.text[i] == '\n') {
        while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.pop_back();
      }
      text += source.text[i];
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.pop_back();
    list.push_back(std::move(text));
  }
  return list;
}

std::string layOutAgain(const Source& source) {
  ByteStream input(source.text);
  grammar::TbemLexer lexer(&input);
  lexer.removeErrorListeners();
  DiagnosticSink silent;
  const LayoutResult layout = layOut(lexer, source, silent);
  std::vector<Piece> list = pieces(source, layout);
  align(list);
  return writeLines(list, kWidth);
}
}  // namespace

std::optional<std::string> format(const Source& source, DiagnosticSink& sink) {
  const std::size_t before = sink.errorCount();
  const std::unique_ptr<ast::File> file = parse(source, sink);
  if (sink.errorCount() != before) return std::nullopt;

  // A line that had to be broken changes what its neighbours are aligned with: go on until nothing moves.
  std::string text = source.text;
  for (int round = 0; round < 5; ++round) {
    SourceManager scratch;
    std::string next = layOutAgain(scratch.add(source.name, text));
    if (next == text) break;
    text = std::move(next);
  }

  DiagnosticSink silent;
  SourceManager sources;
  const Source& again = sources.add(source.name, text);
  const std::unique_ptr<ast::File> reread = parse(again, silent);
  if (silent.hasErrors() || dump(*reread) != dump(*file) || comments(again, *reread) != comments(source, *file)) {
    sink.report(diag::syntax_format_refused, {source.base, source.base});
    return std::nullopt;
  }
  return text;
}

}  // namespace tbem::syntax
