// From pieces to lines: spacing, indentation, and breaks in lines that are too long.
#include "compiler/support/Unicode.h"
#include "compiler/syntax/format/FormatPieces.h"
#include "compiler/syntax/layout/LayoutRules.h"

#include <TbemParser.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;
constexpr int kIndent = 2;
constexpr int kContinuation = 4;
constexpr int kResultIndent = 6;  ///< of a line of a header that begins with `->`
constexpr int kNoLimit = std::numeric_limits<int>::max();

int displayWidth(const std::string& text) {
  int width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode(text, i);
    width += columns(point.value);
    i += point.bytes;
  }
  return width;
}

bool opens(std::size_t type) { return type == P::LPAREN || type == P::LBRACK || type == P::LCURLY; }
bool closes(std::size_t type) { return type == P::RPAREN || type == P::RBRACK || type == P::RCURLY; }

/// Writes the lines of a program. One class: where a line breaks depends on the brackets that are open, on the columns of what
/// was written and on the lines still to come, all of which every part reads and changes.
class Writer {
public:
  Writer(std::vector<Piece>& list, int width) : list(list), width(width) {}

  std::string run() {
    lookAhead();
    for (std::size_t i = 0; i < list.size();) i = line(i);
    alignComments();
    std::string out;
    for (const Line& each : lines) {
      if (each.blank) out += '\n';
      out += each.text;
      if (!each.comment.empty()) {
        if (!each.text.empty())
          out.append(static_cast<std::size_t>(std::max(2, each.commentColumn - displayWidth(each.text))), ' ');
        out += each.comment;
      }
      out += '\n';
    }
    return out;
  }

private:
  struct Line {
    std::string text;
    std::string comment;  ///< at the end of the line
    int commentColumn = 0;
    bool blank = false;  ///< an empty line before it
  };
  /// An open bracket: lines inside begin at `column`, a line that begins with its closing mark at `outer`.
  struct Open {
    int column;
    int outer;
    bool body;
  };

  std::vector<Piece>& list;
  int width;
  std::vector<Line> lines;
  std::vector<Open> open;
  // What a line needs to know of pieces far before or behind it: a statement of n pieces takes n log n steps.
  std::set<std::size_t> breaks;          ///< pieces with a break before them
  std::vector<std::size_t> nextBrace;    ///< by piece: the first `{` from there on
  std::vector<std::size_t> nextOpening;  ///< the first piece from there on that opens a declaration
  std::vector<std::size_t> nextNewline;  ///< the first from there on whose text has several lines
  std::vector<bool> bracketed;           ///< whether a bracket of its statement is open before it
  int statement = 0;                     ///< indentation of the statement or clause in hand
  int operand = 0;                       ///< column of the operands of the clause in hand
  int continuation = kContinuation;      ///< column of lines that go on with it

  bool inBracket() const { return !open.empty() && !open.back().body; }
  int bodyIndent() const {
    for (auto each = open.rbegin(); each != open.rend(); ++each) {
      if (each->body) return each->column;
    }
    return 0;
  }
  const Piece* following(std::size_t i) const {
    while (i < list.size() && list[i].comment) ++i;
    return i < list.size() ? &list[i] : nullptr;
  }
  bool afterBody(std::size_t i) const {
    while (i > 0 && list[i - 1].comment) --i;
    return i > 0 && list[i - 1].type == P::RBRACE;
  }
  void lookAhead() {
    const std::size_t size = list.size();
    for (auto* each : {&nextBrace, &nextOpening, &nextNewline}) each->assign(size + 1, size);
    for (std::size_t i = size; i-- > 0;) {
      nextBrace[i] = list[i].type == P::LBRACE ? i : nextBrace[i + 1];
      nextOpening[i] = list[i].opensDeclaration ? i : nextOpening[i + 1];
      nextNewline[i] = list[i].text.find('\n') != std::string::npos ? i : nextNewline[i + 1];
    }
    bracketed.assign(size + 1, false);
    std::size_t depth = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (list[i].breakBefore) breaks.insert(i);
      if (list[i].begins) depth = 0;
      if (closes(list[i].type) && depth > 0) --depth;
      if (opens(list[i].type)) ++depth;
      bracketed[i + 1] = depth > 0;
    }
  }
  std::size_t lineEnd(std::size_t begin) const {
    const auto next = breaks.upper_bound(begin);
    return next == breaks.end() ? list.size() : *next;
  }
  void breakBefore(std::size_t i) {
    list[i].breakBefore = true;
    breaks.insert(i);
  }

  bool unary(std::size_t i) const {
    const std::size_t type = list[i].type;
    if (type == P::TILDE) return true;
    return (type == P::MINUS || type == P::RANGE) && (i == 0 || list[i - 1].clauseWord || !endsOperand(list[i - 1].type));
  }

  bool spaceBefore(std::size_t i) const {
    const Piece& before = list[i - 1];
    const Piece& piece = list[i];
    if (before.comment || piece.comment) return true;
    if (before.type == P::TIMES || piece.type == P::TIMES) return false;
    if (piece.begins && !piece.comment && before.type == P::LBRACE) return piece.type != P::RBRACE;
    if (opens(before.type) || before.type == P::DOT || piece.type == P::DOT || closes(piece.type)) return false;
    if (piece.type == P::COMMA || piece.type == P::SEMI || piece.type == P::COLON) return false;
    if (unary(i - 1)) return false;
    if (piece.type == P::LPAREN || piece.type == P::LBRACK) {
      const bool quantifier = before.type == P::FORALL || before.type == P::EXISTS;
      return before.clauseWord || !(endsOperand(before.type) || quantifier);
    }
    return true;
  }

  /// Indentation of a line that begins with piece `i`; sets the columns of the lines that go on with it.
  int indent(std::size_t i) {
    const Piece* next = following(i);
    if (next == nullptr) return bodyIndent();
    if (inBracket()) return closes(list[i].type) ? open.back().outer : open.back().column;
    if (next->type == P::RBRACE && !list[i].comment) return open.empty() ? 0 : open.back().outer;
    if (next->type == P::RBRACE || (list[i].comment && next->begins && !next->part && !next->inHeader)) return bodyIndent();
    if (next->type == P::ELSE && afterBody(i)) return bodyIndent();
    if (next->part) return operand;
    if (next->inHeader) return kIndent;
    if (next->begins) return bodyIndent();
    if (next->type == P::LBRACE) return open.empty() ? 0 : bodyIndent();
    if (next->type == P::ARROW && open.empty()) return kResultIndent;
    return continuation;
  }

  void begin(std::size_t i, int column) {
    const Piece& piece = list[i];
    if (piece.clauseWord) {
      statement = column;
      const int next = static_cast<int>(piece.text.size()) + 1 + (i + 1 < list.size() ? list[i + 1].extra : 0);
      operand = continuation = column + next;
    } else if (piece.begins && !piece.part) {
      statement = column;
      continuation = column + kContinuation;
    } else if (piece.part) {
      continuation = operand + static_cast<int>(piece.text.size()) + 2 + (i + 2 < list.size() ? list[i + 2].extra : 0);
    }
  }

  /// Lays out the line that begins with piece `first`; returns the piece after it. A line that is too long gets a break first.
  std::size_t line(std::size_t first) {
    const std::vector<Open> savedOpen = open;
    const int saved[] = {statement, operand, continuation};
    for (;;) {
      const std::size_t end = lineEnd(first);
      Line made;
      made.blank = list[first].blankBefore && !lines.empty();
      std::vector<int> column;
      // What is too long is not measured to its end, unless a later line of a comment's or a text's may be short again.
      const int most = nextNewline[first] < end ? kNoLimit : width;
      const bool tooLong = write(first, end, most, made, column) > width;
      if (tooLong && openBody(first, end)) {
        restore(savedOpen, saved);
        continue;
      }
      const std::optional<std::size_t> where = tooLong ? breakAt(first, column) : std::nullopt;
      if (!where) {
        if (tooLong && most != kNoLimit) {
          restore(savedOpen, saved);
          write(first, end, kNoLimit, made, column);
        }
        lines.push_back(std::move(made));
        return end;
      }
      breakBefore(*where);
      refill(*where, end);
      for (std::size_t i = nextOpening[first]; i < end; i = nextOpening[i + 1]) breakBefore(i);
      restore(savedOpen, saved);
    }
  }

  void restore(const std::vector<Open>& savedOpen, const int (&saved)[3]) {
    open = savedOpen;
    statement = saved[0];
    operand = saved[1];
    continuation = saved[2];
  }

  /// Gives the statements of a body that stands on this line lines of their own; false where there is none.
  bool openBody(std::size_t first, std::size_t end) {
    for (std::size_t i = nextBrace[first]; i + 1 < end; i = nextBrace[i + 1]) {
      if (list[i].partner >= end || list[i].partner == i + 1) continue;
      const std::size_t close = list[i].partner;
      breakBefore(i + 1);
      breakBefore(close);
      for (std::size_t j = i + 2; j < close; ++j) {
        if (list[j].begins && !list[j - 1].comment) breakBefore(j);
      }
      return true;
    }
    return false;
  }

  /// After a break before piece `i` in a list, the list's next line is joined to what was broken off.
  void refill(std::size_t i, std::size_t end) {
    if (list[i - 1].type != P::COMMA || end >= list.size() || (list[end - 1].type != P::COMMA && list[end - 1].type != P::SEMI) ||
        list[end].comment || list[end].begins)
      return;
    int depth = 0;
    for (std::size_t j = i; j < end; ++j) {
      if (opens(list[j].type)) ++depth;
      if (closes(list[j].type) && --depth < 0) return;
    }
    if (depth != 0) return;
    list[end].breakBefore = list[end].blankBefore = false;
    breaks.erase(end);
  }

  /// Returns the width without the comment at the end. Where that is more than `most` it ends there; `column` has a number for
  /// each piece written.
  int write(std::size_t first, std::size_t end, int most, Line& made, std::vector<int>& column) {
    column.clear();
    int at = indent(first);
    made.text.assign(static_cast<std::size_t>(at), ' ');
    const int lineIndent = at;
    for (std::size_t i = first; i < end; ++i) {
      const Piece& piece = list[i];
      if (piece.lineComment && i + 1 == end && i != first) {
        made.comment = piece.text;
        break;
      }
      if (i != first) space(first, i, made, at);
      column.push_back(at);
      if (piece.begins || piece.clauseWord) begin(i, at);
      made.text += piece.text;
      const std::size_t newline = piece.text.rfind('\n');
      at = newline == std::string::npos ? at + displayWidth(piece.text) : displayWidth(piece.text.substr(newline + 1));
      if (!piece.comment) brackets(i, end, at, lineIndent);
      if (at > most) break;
    }
    return at;
  }

  void space(std::size_t first, std::size_t i, Line& made, int& at) {
    const Piece& piece = list[i];
    std::size_t before = i;
    while (before > first && list[before - 1].comment) --before;
    const std::size_t type = before > first ? list[before - 1].type : 0;
    if (piece.begins && !piece.comment && type != 0 && piece.type != P::RBRACE && type != P::LBRACE && type != P::PRIVATE) {
      made.text += ';';
      ++at;
    }
    const int blanks = (spaceBefore(i) ? 1 : 0) + piece.extra;
    made.text.append(static_cast<std::size_t>(blanks), ' ');
    at += blanks;
  }

  void brackets(std::size_t i, std::size_t end, int at, int lineIndent) {
    const Piece& piece = list[i];
    if (opens(piece.type)) {
      const bool last = i + 1 >= end || (list[i + 1].lineComment && i + 2 >= end);
      const int outer = inBracket() ? lineIndent : std::max(lineIndent, 0);
      open.push_back(last ? Open{outer + kContinuation, outer, false} : Open{at, at - 1, false});
    } else if (piece.type == P::LBRACE) {
      const int outer = bodyIndent();
      open.push_back({outer + kIndent, outer, true});
    } else if ((closes(piece.type) || piece.type == P::RBRACE) && !open.empty()) {
      open.pop_back();
    }
  }

  /// How much a break before piece `i` hurts, or nothing where the line cannot be broken: marks before operators, loose operators
  /// before tight ones.
  std::optional<int> breakCost(std::size_t i, bool bracketed) const {
    const Piece& piece = list[i];
    const std::size_t before = list[i - 1].type;
    if (piece.comment || list[i - 1].comment) return std::nullopt;
    if (before == P::COMMA || (before == P::SEMI && bracketed) || piece.type == P::ARROW)
      return piece.part ? std::nullopt : std::optional(0);
    if (unary(i)) return std::nullopt;
    switch (piece.type) {
      case P::AND:
      case P::OR:
      case P::IMPLIES:
      case P::IFF:
      case P::ELSE:
        return 1;
      case P::PIPE:
      case P::PLUS:
      case P::MINUS:
        return 2;
      case P::NE:
      case P::LE:
      case P::GE:
      case P::LT:
      case P::GT:
        return 2;
      case P::STAR:
      case P::SLASH:
      case P::DIV:
      case P::CDIV:
      case P::MOD:
      case P::REM:
        return 3;
      default:
        return std::nullopt;
    }
  }

  /// The best place for a break: at the outermost bracket possible, of least cost, the last one that fits.
  std::optional<std::size_t> breakAt(std::size_t first, const std::vector<int>& column) const {
    std::optional<std::size_t> best;
    int bestCost = 0;
    int depth = 0;
    const bool outside = !bracketed[first];
    for (std::size_t i = first; i < first + column.size(); ++i) {
      if (closes(list[i].type)) --depth;
      if (i > first + 1 && column[i - 1 - first] + displayWidth(list[i - 1].text) <= width) {
        const std::optional<int> cost = breakCost(i, depth > 0 || !outside);
        if (cost && (!best || depth * 4 + *cost <= bestCost)) {
          best = i;
          bestCost = depth * 4 + *cost;
        }
      }
      if (opens(list[i].type)) ++depth;
    }
    return best;
  }

  /// Comments at the ends of neighbouring lines stand in one column where they fit.
  void alignComments() {
    for (std::size_t i = 0; i < lines.size();) {
      if (lines[i].comment.empty()) {
        ++i;
        continue;
      }
      std::size_t end = i;
      int column = 0;
      int longest = 0;
      for (; end < lines.size() && !lines[end].comment.empty() && (end == i || !lines[end].blank); ++end) {
        column = std::max(column, displayWidth(lines[end].text) + 2);
        longest = std::max(longest, displayWidth(lines[end].comment));
      }
      for (std::size_t j = i; j < end; ++j) lines[j].commentColumn = column + longest <= width ? column : 0;
      i = end;
    }
  }
};
}  // namespace

std::string writeLines(std::vector<Piece>& list, int width) { return Writer(list, width).run(); }

}  // namespace tbem::syntax
